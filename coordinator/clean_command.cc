#include <unistd.h>

#include <fmt/format.h>
#include <iostream>

#include "base/text.h"
#include "coordinator/commands.h"
#include "coordinator/run_directory.h"
#include "coordinator/run_lock.h"
#include "coordinator/status.h"
#include "coordinator/worker_roster.h"
#include "os/tree.h"

namespace arena {

namespace {

struct OldRun {
  fs::path directory;
  std::uintmax_t bytes = 0;
  std::string state;
};

std::uintmax_t size_of(const fs::path& directory) {
  std::uintmax_t bytes = 0;
  boost::system::error_code error;
  fs::recursive_directory_iterator walk(directory, fs::directory_options::skip_permission_denied, error), end;
  while (!error && walk != end) {
    boost::system::error_code ignored;
    if (walk->symlink_status(ignored).type() == fs::regular_file) {
      const std::uintmax_t size = fs::file_size(walk->path(), ignored);
      if (!ignored) bytes += size;
    }
    walk.increment(error);
  }
  return bytes;
}

// Names sort as times do.
bool is_older(const fs::path& run, WallTime limit) {
  const auto stamp = run_timestamp_of(run.filename().string());
  return stamp && *stamp < format_run_timestamp(limit);
}

// In use: locked, or with workers that may live. Such a run is never offered.
Result<std::optional<OldRun>> look_at(FileSystem& disk, const fs::path& run) {
  const QueueLayout layout(run);
  OldRun old{run, 0, "broken"};
  if (const auto status = read_status(disk, run)) {
    if (!status->is_over()) return std::nullopt;
    old.state = state_phrase(*status);
  } else if (is_run_locked(layout)) {
    return std::nullopt;
  }
  old.bytes = size_of(run);
  return old;
}

Result<std::vector<OldRun>> find_old_runs(const Options& options, World& world) {
  std::vector<fs::path> candidates;
  if (options.names.empty()) {
    ARENA_ASSIGN(const std::vector<fs::path> runs, list_runs(world.disk, options.workspace_root));
    const WallTime limit = world.clock.now() - std::chrono::hours(24) * options.older_than_days;
    for (const fs::path& run : runs) {
      if (is_older(run, limit)) candidates.push_back(run);
    }
  }
  for (const std::string& name : options.names) {
    ARENA_ASSIGN(fs::path run, find_run(world.disk, name, options.workspace_root));
    candidates.push_back(std::move(run));
  }
  std::vector<OldRun> old;
  for (const fs::path& run : candidates) {
    ARENA_ASSIGN(auto seen, look_at(world.disk, run));
    if (seen) {
      old.push_back(std::move(*seen));
    } else {
      world.console.line(fmt::format("in use, left alone: {}", run.string()));
    }
  }
  return old;
}

Status remove_run(FileSystem& disk, const fs::path& run) {
  const QueueLayout layout(run);
  ARENA_ASSIGN(const bool has_queue, disk.exists(layout.parallel()));
  if (!has_queue) return remove_tree(run);
  ARENA_ASSIGN(const FileLock lock, lock_run(layout));
  ARENA_ASSIGN(const std::vector<OpenWorker> workers, list_open_workers(disk, layout));
  for (const OpenWorker& worker : workers) {
    if (worker.process || !worker.elsewhere.empty()) {
      return fail(ErrorCode::refused,
                  fmt::format("worker {} works on '{}'", format_worker_id(worker.id), run.string()));
    }
  }
  return remove_tree(run);
}

}  // namespace

int clean_runs(const Options& options, World& world) {
  const auto old = find_old_runs(options, world);
  if (!old) return report_error(old.error(), world.console);
  if (old->empty()) {
    world.console.result(options.names.empty()
                             ? fmt::format("no run is older than {} days", options.older_than_days)
                             : std::string("nothing to remove"));
    return kAllDone;
  }
  std::uintmax_t bytes = 0;
  for (const OldRun& run : *old) {
    bytes += run.bytes;
    world.console.result(
        fmt::format("{:>8} MB  {}  ({})", run.bytes >> 20, run.directory.string(), run.state));
  }
  if (!options.yes) {
    if (::isatty(STDIN_FILENO) != 1) {
      return report_error(
          {ErrorCode::refused, "nobody can be asked here; --yes removes them without a question"},
          world.console);
    }
    world.console.result(fmt::format("remove {} run directories with everything in them, {} MB? [y/N] ",
                                     old->size(), bytes >> 20));
    std::string answer;
    std::getline(std::cin, answer);
    if (!equals_ignoring_case(trim(answer), "y") && !equals_ignoring_case(trim(answer), "yes")) {
      world.console.result("nothing was removed");
      return kAllDone;
    }
  }
  for (const OldRun& run : *old) {
    if (const Status removed = remove_run(world.disk, run.directory); !removed)
      return report_error(removed.error(), world.console);
  }
  world.console.result(fmt::format("removed {} run directories", old->size()));
  return kAllDone;
}

}  // namespace arena
