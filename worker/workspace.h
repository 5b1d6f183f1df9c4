#pragma once
// Where an attempt works: the workspace the agent sees, and the attempt's own directory beside it with the
// pristine copies that are measured.
#include <optional>
#include <string>
#include <vector>

#include "os/file_system.h"
#include "os/tree.h"
#include "queue/queue_layout.h"

namespace arena {

// .attempts/<slug>/<n>/
struct AttemptDirectory {
  fs::path root;
  fs::path baseline() const { return root / "baseline"; }
  fs::path evaluation() const { return root / "evaluation"; }
  fs::path logs() const { return root / "logs"; }
  fs::path home(const std::string& side) const { return root / "home" / side; }
  fs::path agent() const { return root / "agent"; }                // what is kept about the agent's work
  fs::path agent_output() const { return root / "agent_output"; }  // for an agent that keeps files of its own
  fs::path prompt() const { return agent() / "prompt.md"; }
  fs::path candidate_being_built() const { return root / "candidate.new"; }
};

// A tree that belongs to the task but lies elsewhere: a repository's clone or a directory of the image.
struct SeedTree {
  fs::path from;
  std::string name;  // of its directory in the workspace
  std::vector<std::string>
      excluded;  // patterns: without '/' for names anywhere, with '/' for paths from the top
};

// The pristine task. Shared kit files, linked from elsewhere below the tasks directory, become plain files in
// every copy.
struct TaskSource {
  fs::path directory;
  fs::path tasks_directory;
  std::optional<SeedTree> seed;
};

Result<std::string> digest_of(const TaskSource& source);

enum class Solution { left_out, included };
// Into `target`, which does not exist yet. The seed is left out where the task brings a directory of its name
// itself.
Status copy_pristine(const TaskSource& source, const fs::path& target, Solution solution);

// The name of the directory that a clone of `url` makes: "rocPRIM" for https://github.com/ROCm/rocPRIM.git.
std::string repository_name(const std::string& url);

bool is_excluded_from_seed(const std::string& relative, const std::vector<std::string>& patterns);

// Moves what an earlier attempt left under the workspace's name into .attempts/<slug>/<attempt -
// 1>/workspace. A candidate whose evaluation was completed by that attempt goes with it: it is evidence, not
// work to be evaluated again.
Status archive_workspace(FileSystem& disk, const QueueLayout& layout, const std::string& task_name,
                         const std::string& run_id, std::int64_t attempt);

}  // namespace arena
