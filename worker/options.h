#pragma once
// The command line of arena-worker, as the coordinator's launcher builds it.
#include <string>
#include <variant>

#include "base/path.h"
#include "base/result.h"

namespace arena {

struct WorkerOptions {
  fs::path run_directory;  // absolute
  std::string worker_id;   // slot.n
  std::string device = "unknown device";
  std::string launcher = "local";
  fs::path probe;             // arena-probe
  bool wait_for_gpu = false;  // that somebody else holds
  fs::path data_directory;    // agents/*.yaml and prompts/*.md
  fs::path cache_directory;   // clones of `repository` tasks
  fs::path user_home;         // where agents' login files are; empty: none
  fs::path log_file;
  bool verbose = false;
};

// The options, or the text and exit code to leave with (--help and --version: 0, a bad flag or value: 2).
struct EarlyExit {
  int code = 0;
  std::string text;
};
std::variant<WorkerOptions, EarlyExit> parse_worker_options(int argc, const char* const* argv);

// ../share/arena beside the program, in the build tree as when installed.
fs::path default_data_directory();

}  // namespace arena
