#pragma once
// Clones of `repository` tasks, kept outside tasks/ and shared by the workers of a machine. What was cloned
// first for a URL (and revision) is what every later task gets: baseline and candidate, today and after a
// resume, are of one commit.
#include "model/task_spec.h"
#include "os/file_system.h"
#include "worker/task_commands.h"

namespace arena {

struct RepositoryClone {
  fs::path tree;
  std::string head;  // commit, 40 hex digits
};

class RepositoryCache {
 public:
  RepositoryCache(ProcessRunner& runner, FileSystem& disk, fs::path directory)
      : runner_(runner), disk_(disk), directory_(std::move(directory)) {}

  // Clones (depth 1) unless it is there already. Built under a temporary name and renamed, so that a clone
  // seen is complete; of two workers that clone at once, the second uses the first one's. post_clone_install
  // lines of mode after_clone run in it before that. `settings` gives environment and log directory, `limit`
  // holds for each command.
  Result<RepositoryClone> obtain(const RepositorySource& source, const CommandSettings& settings,
                                 std::chrono::milliseconds limit);

 private:
  Result<std::string> clone(const RepositorySource& source, const fs::path& target,
                            const CommandSettings& settings, std::chrono::milliseconds limit);
  Status run_git(const std::vector<std::string>& arguments, const fs::path& directory, const std::string& log,
                 const CommandSettings& settings, std::chrono::milliseconds limit);
  ProcessRunner& runner_;
  FileSystem& disk_;
  fs::path directory_;
};

// Runs the post_clone_install lines in `settings.directory`. A line that fails is an error (the task cannot
// be set up).
Status install_repository(ProcessRunner& runner, const RepositorySource& source,
                          const CommandSettings& settings, std::chrono::milliseconds limit,
                          const std::string& log_name);

}  // namespace arena
