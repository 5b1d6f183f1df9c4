#include <poll.h>

#include <fmt/format.h>

#include "coordinator/commands.h"
#include "coordinator/run_directory.h"
#include "coordinator/run_lock.h"
#include "coordinator/shell_command.h"
#include "coordinator/status.h"
#include "coordinator/supervision.h"
#include "coordinator/takeover.h"
#include "coordinator/worker_roster.h"

namespace arena {

namespace {

constexpr int kLockPeriodMs = 100;
constexpr int kLockTries = 600;  // a coordinator whose workers are gone writes its reports, then leaves

Status end_live_workers(FileSystem& disk, const QueueLayout& layout) {
  ARENA_ASSIGN(const std::vector<OpenWorker> workers, list_open_workers(disk, layout));
  std::vector<const LaunchedProcess*> processes;
  for (const OpenWorker& worker : workers) {
    if (worker.process) processes.push_back(&*worker.process);
  }
  return end_processes(processes, kStopGrace);
}

// The coordinator has seen the halt file and goes once its workers are gone.
Result<FileLock> wait_for_lock(const QueueLayout& layout) {
  for (int attempt = 1;; ++attempt) {
    auto lock = lock_run(layout);
    if (lock || lock.error().code != ErrorCode::refused || attempt == kLockTries) return lock;
    ::poll(nullptr, 0, kLockPeriodMs);
  }
}

Status end_run(World& world, const QueueLayout& layout) {
  ARENA_ASSIGN(const StoredRecord stored, read_newest_record(world.disk, layout));
  // First those at work, so that nobody waits for their tasks; what starts meanwhile finds the halt file.
  ARENA_TRY(end_live_workers(world.disk, layout));
  ARENA_ASSIGN(const FileLock lock, wait_for_lock(layout));
  TakeoverOrder order;
  order.run_id = stored.record.run_id;
  order.limits.max_attempts = stored.record.config.max_attempts;
  order.end_all = true;
  ARENA_ASSIGN(const Takeover takeover, take_over(world.disk, world.clock, layout, order));
  for (const std::string& news : takeover.news) world.console.line(news);
  for (const std::string& warning : takeover.warnings) world.console.error("warning: " + warning);
  return {};
}

}  // namespace

int stop_run(const Options& options, World& world) {
  const auto run = find_run(world.disk, options.run, options.workspace_root);
  if (!run) return report_error(run.error(), world.console);
  const QueueLayout layout(*run);
  auto status = read_status(world.disk, *run);
  if (!status) return report_error(status.error(), world.console);
  if (!status->has_queue || (status->is_over() && !options.now)) {
    world.console.result(fmt::format("nothing works on {}: {}", layout.run_name(), state_phrase(*status)));
    return kAllDone;
  }
  const Halt halt{"user", options.now ? "stop" : "drain", "arena-coord stop"};
  if (const Status written = request_halt(world.disk, layout.halt_file(), halt); !written) {
    return report_error(written.error(), world.console);
  }
  if (!options.now) {
    const auto busy = status->counts.running;
    world.console.result(fmt::format("{} ends when its running task{} finished ({}); --now does not wait",
                                     layout.run_name(), busy == 1 ? " has" : "s have", busy));
    return kAllDone;
  }
  if (const Status ended = end_run(world, layout); !ended) return report_error(ended.error(), world.console);
  status = read_status(world.disk, *run);
  if (!status) return report_error(status.error(), world.console);
  world.console.result(fmt::format("{} is stopped: {} done, {} failed, {} pending; no process of it is left",
                                   layout.run_name(), status->counts.done, status->counts.failed,
                                   status->counts.pending));
  if (status->counts.pending > 0) world.console.result("resume with: " + resume_command(*run));
  return kAllDone;
}

}  // namespace arena
