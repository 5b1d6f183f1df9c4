#pragma once
// A task's config.yaml, schema v1 (v0.2) or v2, parsed into plain values. v1 tolerates unknown keys with a
// warning (its authors add their own), v2 does not. Paths are relative, normalized and inside the task.
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace arena {

struct PlatformSupport {
  std::vector<std::string> required_arch;  // empty: any
  bool skip = false;
  std::string skip_reason;
  std::string unknown_status;  // a status we do not know: runs, with a warning
};

struct RepositorySource {  // task types repository and image_kernel
  std::string url;
  std::string revision;  // 40 hex digits if the config pins one, else empty
  std::string subdirectory;
  std::vector<std::string> post_clone_install;  // shell lines
  bool install_every_setup = false;
  std::string image_path;  // image_kernel: absolute path in the image
  std::vector<std::string> image_exclude;
};

struct PromptSpec {
  std::optional<std::string> source_code, instructions, cheatsheet, output_format, task_type;
};

// v2's candidate.editable.
struct EditableScope {
  std::string path;
  enum class Kind { file, symbols, tree } kind = Kind::file;
  std::vector<std::string> symbols;
  bool allow_new_helpers = false;
};

struct TaskSpec {
  int schema_version = 1;
  std::string task_type;  // hip2hip, torch2hip, …, cpp2cpp
  std::vector<std::string> source_files;
  std::string target_file;                // the first of target_files, empty if none
  std::vector<std::string> target_files;  // target_file_path: one or several
  std::vector<std::string> target_functions;
  std::vector<std::string> editable_sources;                                              // v1's rare key
  std::vector<EditableScope> editable;                                                    // v2
  std::vector<std::string> compile_commands, correctness_commands, performance_commands;  // shell lines, v1
  std::optional<std::chrono::seconds> compile_timeout, correctness_timeout, performance_timeout;
  std::string harness_path;
  std::string repository_language;
  RepositorySource repository;
  PlatformSupport platform;
  PromptSpec prompt;
  std::string unsupported;  // why arena cannot run it yet ("schema v2 runner protocol"); empty: it can
};

// Errors are invalid_input with file:line and key. A v2 task is checked in full although arena cannot run it
// yet.
Result<TaskSpec> parse_task_spec(std::string_view text, const std::string& name,
                                 std::vector<std::string>* warnings);

// Files that a candidate may change, as the evaluation takes them over from the agent's tree: v1:
// target_files where given, else source_files (plus editable_sources). Empty means that the whole tree minus
// protected files is the candidate (repository and image_kernel without editable_sources, instruction2triton
// without sources: see harness_guard.h).
std::vector<std::string> editable_files(const TaskSpec& spec);

// Why the task is not for this architecture, or empty. FORMATS 1.2.
std::string platform_skip_reason(const PlatformSupport& platform, std::string_view architecture);

}  // namespace arena
