#include "worker/program.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstdio>

#include "model/worker_record.h"
#include "os/environment.h"
#include "os/file_lock.h"
#include "queue/event_ledger.h"
#include "worker/agent_check.h"
#include "worker/helper_program.h"
#include "worker/options.h"
#include "worker/worker_log.h"
#include "worker/worker_loop.h"

namespace arena {

namespace {

// The newest record holds what a resume added.
Result<RunRecord> read_newest_run_record(FileSystem& disk, const QueueLayout& layout) {
  int newest = 1;
  for (;; ++newest) {
    ARENA_ASSIGN(const bool there, disk.exists(layout.run_record(newest + 1)));
    if (!there) break;
  }
  const fs::path file = layout.run_record(newest);
  ARENA_ASSIGN(const std::string text, disk.read(file));
  return read_run_record(text, file.string());
}

Result<WorkerSetup> make_setup(FileSystem& disk, const QueueLayout& layout, const WorkerOptions& options,
                               ReapMode mode) {
  WorkerSetup setup;
  ARENA_ASSIGN(setup.run, read_newest_run_record(disk, layout));
  ARENA_ASSIGN(setup.agent, load_agent(disk, options.data_directory, setup.run.config.agent));
  setup.data_directory = options.data_directory;
  setup.cache_directory = options.cache_directory;
  setup.worker_id = options.worker_id;
  setup.device = options.device;
  setup.arena_probe = options.probe;
  setup.reap_mode = mode == ReapMode::pid_namespace ? "pid_namespace" : "subreaper";
  setup.environment = current_environment();
  setup.user_home = options.user_home;
  setup.overload_delay = std::chrono::seconds(setup.agent.overload_delay_seconds);
  return setup;
}

// Who this worker is, for a coordinator that adopts it. An id is used once: a record that is there already is
// an error.
Status announce(FileSystem& disk, Clock& clock, const QueueLayout& layout, const WorkerSetup& setup,
                const WorkerOptions& options) {
  ARENA_ASSIGN(const ProcessIdentity identity, current_process_identity());
  WorkerRecord record;
  record.worker_id = setup.worker_id;
  record.run_id = setup.run.run_id;
  record.launcher = options.launcher;
  record.host = identity.host;
  record.boot_id = identity.boot_id;
  record.pid = identity.pid;
  record.start_ticks = identity.start_ticks;
  record.device = setup.device;
  record.reap_mode = setup.reap_mode;
  record.started_at = format_utc(clock.now());
  record.version = ARENA_VERSION;
  ARENA_TRY(publish(disk, layout.worker_record(setup.worker_id), write_worker_record(record), Sync::no,
                    Replace::no));
  Event start;
  start.time = record.started_at;
  start.kind = "worker_start";
  start.writer = setup.worker_id;
  start.more["device"] = setup.device;
  return append_event(disk, layout, start);
}

// After the announcement, so that a coordinator can end a worker that waits. What goes wrong stands in the
// ledger: it is about the device, and the run goes on without it.
Status take_device(FileSystem& disk, Clock& clock, const QueueLayout& layout, const WorkerOptions& options,
                   RealProcessRunner& runner, WorkerSetup& setup) {
  DeviceAssignment assignment;
  assignment.identity = setup.device;
  assignment.arena_probe = options.probe;
  assignment.isolation = options.launcher == "local" ? Isolation::environment : Isolation::device_nodes;
  assignment.wait = options.wait_for_gpu;
  assignment.holder = fmt::format("worker {} of {}", setup.worker_id, layout.run_directory().string());
  auto taken =
      AssignedDevice::take(assignment, setup.environment, [&runner] { return runner.stop_requested(); });
  if (taken) {
    setup.assigned = std::move(*taken);
    return {};
  }
  Event event;
  event.time = format_utc(clock.now());
  event.kind = "quarantine";
  event.writer = setup.worker_id;
  event.message = taken.error().message;
  event.more["device"] = setup.device;
  static_cast<void>(append_event(disk, layout, event));
  return fail(std::move(taken).error());
}

int exit_code(WorkerExit code) { return static_cast<int>(code); }

int work(const WorkerOptions& options, const QueueLayout& layout) {
  RealFileSystem disk(renames_on(layout.run_directory()));
  RealClock clock;
  RealProcessRunner runner;
  auto setup = make_setup(disk, layout, options, runner.reap_mode());
  if (!setup) {
    spdlog::error("cannot start: {}", setup.error().message);
    return exit_code(WorkerExit::usage);
  }
  if (const Status announced = announce(disk, clock, layout, *setup, options); !announced) {
    spdlog::error("cannot start: {}", announced.error().message);
    return exit_code(announced.error().code == ErrorCode::exists ? WorkerExit::usage
                                                                 : WorkerExit::cannot_go_on);
  }
  if (const Status taken = take_device(disk, clock, layout, options, runner, *setup); !taken) {
    spdlog::error("cannot use {}: {}", setup->device, taken.error().message);
    return exit_code(taken.error().code == ErrorCode::cancelled ? WorkerExit::stopped
                                                                : WorkerExit::device_unfit);
  }
  setup->agent_version = read_agent_version(runner, setup->agent, setup->environment);
  spdlog::info("worker {} of {} on {}", setup->worker_id, setup->run.run_name, setup->device);
  WorkerLoop loop(*setup, layout, disk, clock, runner, [&runner] { return runner.end_descendants(); });
  const WorkerExit left = loop.run();
  Event exit;
  exit.time = format_utc(clock.now());
  exit.kind = "worker_exit";
  exit.writer = setup->worker_id;
  exit.more["code"] = std::to_string(exit_code(left));
  // The ledger's last word is for people; the exit code is what counts.
  static_cast<void>(append_event(disk, layout, exit));
  return exit_code(left);
}

}  // namespace

int run_worker_program(int argc, char** argv) {
  if (is_helper_call(argc, argv)) return run_helper(argc, argv);
  const auto parsed = parse_worker_options(argc, argv);
  if (const auto* early = std::get_if<EarlyExit>(&parsed)) {
    std::fputs(early->text.c_str(), early->code == 0 ? stdout : stderr);
    return early->code;
  }
  const auto& options = std::get<WorkerOptions>(parsed);
  const QueueLayout layout(options.run_directory);
  // The launcher makes the lock before it starts a worker, and removes it to call off one that has not come
  // up yet.
  const auto lock = FileLock::try_acquire_existing(layout.worker_lock(options.worker_id));
  if (!lock) return exit_code(WorkerExit::stopped);
  if (const Status opened =
          open_worker_log(options.log_file, options.verbose ? LogDetail::verbose : LogDetail::normal);
      !opened) {
    std::fputs(fmt::format("arena-worker: {}\n", opened.error().message).c_str(), stderr);
    return exit_code(WorkerExit::cannot_go_on);
  }
  return work(options, layout);
}

}  // namespace arena
