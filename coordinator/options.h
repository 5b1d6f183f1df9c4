#pragma once
// What the user typed, checked. Everything wrong with it is found here, before anything is created; the
// message is one line.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace arena {

enum class Command { run, status, tasks, report, retry, stop, gpus, doctor, clean, check_agents, prompt };

// After so many failed tasks in this session: `soon` lets running tasks finish, `now` stops them.
struct HaltPolicy {
  bool now = false;
  std::int64_t failures = 1;
};

struct Options {
  Command command = Command::run;
  fs::path config;           // empty: not given
  fs::path tasks_directory;  // empty: the tasks beside the program (or those the run record names)
  fs::path workspace_root = ".";
  std::string run_suffix;
  std::string run_name;    // of a new run; empty: run_<timestamp>[_suffix]
  std::string resume_run;  // path or name; empty: a new run
  bool resume_latest = false;
  bool retry_failed = false;
  std::string launcher = "local";
  std::optional<std::string> gpu_ids;        // as written; device/device_selection.h reads it
  std::vector<std::string> remembered_gpus;  // those a resumed run had, by identity; not a flag
  bool allow_gpu_mismatch = false;           // another architecture than target_gpu_model's
  bool wait_for_gpu = false;                 // for one that somebody else holds
  std::optional<std::int64_t> cpu_slots;
  std::optional<std::int64_t> max_attempts;
  std::optional<HaltPolicy> halt;
  bool dry_run = false;
  bool no_preflight = false;
  bool json = false;
  int verbosity = 0;  // -1 quiet, 1 verbose
  // subcommands
  std::string run;                 // RUN; empty: the newest
  std::vector<std::string> names;  // TASK… or SELECTOR… or RUN…
  std::string agents;              // names separated by commas, or "all"
  bool watch = false;
  bool now = false;
  bool yes = false;
  std::int64_t older_than_days = 30;
};

// Text to print and leave with success: --help, --version.
struct Answer {
  std::string text;
};

struct ParsedOptions {
  std::optional<Answer> answer;  // set: print it, do nothing else
  Options options;
};

// `arguments` without the program's name. Every error is invalid_input (exit code 2).
Result<ParsedOptions> parse_options(const std::vector<std::string>& arguments);

// "now,fail=3" or "soon,fail=1".
Result<HaltPolicy> parse_halt_policy(const std::string& text);

}  // namespace arena
