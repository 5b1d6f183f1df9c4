#include "coordinator/session.h"

#include <fmt/format.h>
#include <algorithm>
#include <set>

#include "coordinator/completion.h"
#include "coordinator/descriptor_order.h"
#include "coordinator/local_launcher.h"
#include "coordinator/report_files.h"
#include "coordinator/reports.h"
#include "coordinator/run_display.h"
#include "coordinator/run_log.h"
#include "coordinator/shell_command.h"
#include "coordinator/status.h"
#include "coordinator/supervisor.h"
#include "coordinator/takeover.h"
#include "queue/queue_builder.h"

namespace arena {

namespace {

// A queue that loses entries while it is worked on is put in order again this often before the rest is left
// to a person.
constexpr int kMostRounds = 3;

class Coordinator {
 public:
  Coordinator(Session& session, const Options& options, World& world)
      : layout_(session.layout),
        record_(session.record),
        session_(session),
        options_(options),
        world_(world),
        disk_(world.disk) {
    limits_.max_attempts = record_.config.max_attempts;
  }

  Result<int> run() {
    const std::string start = log_name_start(record_);
    const fs::path logs = log_directory_of(record_, layout_.run_directory());
    ARENA_ASSIGN(log_, RunLog::open(logs / (start + "_parallel_init.log")));
    log_.info(fmt::format("coordinator of {} ({} tasks, {} slots)", layout_.run_name(), record_.tasks.size(),
                          session_.devices.size()));
    for (const SkippedTask& task : record_.skipped)
      log_.info(fmt::format("skipped {}: {}", task.name, task.reason));
    if (const std::string network = network_file_system_name(layout_.run_directory()); !network.empty()) {
      warn(fmt::format(
          "the run lies on {}: everything is slower there, and its locks are only as good as the server's",
          network));
    }
    ARENA_TRY(clear_halt(disk_, layout_.halt_file()));
    TakeoverOrder order{record_.run_id, limits_, static_cast<std::int64_t>(session_.devices.size()), false};
    ARENA_ASSIGN(Takeover takeover, take_over(disk_, world_.clock, layout_, order));
    for (const std::string& news : takeover.news) say(news);
    for (const std::string& warning : takeover.warnings) warn(warning);
    // Listing a large queue takes as long as a task; a listing stands until something is moved.
    ARENA_ASSIGN(std::optional<QueueSnapshot> listed, take_snapshot(disk_, layout_));
    ARENA_ASSIGN(const bool moved, put_back_unproven(*listed));
    if (options_.retry_failed) ARENA_TRY(put_back_failed());
    if (moved || options_.retry_failed) listed.reset();

    LocalLauncher launcher(disk_, layout_, launch_settings(logs, start));
    SupervisorOutcome outcome;
    std::vector<AdoptedWorker> adopted = std::move(takeover.adopted);
    for (int round = 1; round <= kMostRounds; ++round) {
      if (!listed) {
        ARENA_ASSIGN(listed, take_snapshot(disk_, layout_));
      }
      ARENA_ASSIGN(const bool made_anew, regenerate_missing(*listed));
      if (made_anew) {
        ARENA_ASSIGN(listed, take_snapshot(disk_, layout_));
      }
      QueueSnapshot snapshot = std::move(*listed);
      listed.reset();
      if (adopted.empty() && snapshot.count(QueueState::pending) == 0) break;
      ARENA_ASSIGN(outcome, supervise(make_order(std::move(adopted), std::move(snapshot)), launcher));
      adopted.clear();
      if (outcome.signal != 0 || outcome.halt || !outcome.problems.empty()) break;
    }
    return conclude(outcome, logs, start);
  }

 private:
  // --- the queue in order ---
  // The answers tell whether anything was moved.
  Result<bool> put_back_unproven(const QueueSnapshot& snapshot) {
    ARENA_ASSIGN(const std::vector<UnprovenEntry> unproven, find_unproven(disk_, layout_, snapshot, record_));
    for (const UnprovenEntry& entry : unproven) {
      warn(fmt::format("{} is not done after all: {}; it goes back to pending", entry.name.slug,
                       entry.reason));
      ARENA_TRY(put_back(QueueState::done, entry.name));
    }
    return !unproven.empty();
  }

  Status put_back_failed() {
    ARENA_ASSIGN(const QueueSnapshot snapshot, take_snapshot(disk_, layout_));
    const auto failed = snapshot.entries.find(QueueState::failed);
    if (failed == snapshot.entries.end()) return {};
    for (const EntryName& entry : failed->second) ARENA_TRY(put_back(QueueState::failed, entry));
    if (!failed->second.empty())
      say(fmt::format("{} failed tasks go back to pending", failed->second.size()));
    return {};
  }

  // An entry that cannot be read was set aside; regenerate_missing makes it anew.
  Status put_back(QueueState from, const EntryName& entry) {
    Status moved = requeue_finished(disk_, layout_, from, entry);
    if (!moved && moved.error().code != ErrorCode::corrupt) return moved;
    return {};
  }

  Result<bool> regenerate_missing(const QueueSnapshot& snapshot) {
    std::vector<std::int64_t> planned;
    for (const PlannedTask& task : record_.tasks) planned.push_back(task.index);
    QueueCheck check = check_snapshot(snapshot, planned);
    if (!check.missing.empty() || !check.duplicates.empty()) {
      // Adopted workers may have moved entries while they were listed.
      ARENA_ASSIGN(check, check_queue(disk_, layout_, planned));
    }
    for (const std::string& duplicate : check.duplicates) warn(duplicate);
    const std::set<std::int64_t> missing(check.missing.begin(), check.missing.end());
    for (const PlannedTask& task : record_.tasks) {
      if (!missing.contains(task.index)) continue;
      ARENA_ASSIGN(const Regenerated outcome,
                   regenerate(disk_, layout_, fresh_descriptor(record_, layout_, task)));
      warn(fmt::format("{}: {}", task.name,
                       outcome == Regenerated::enqueued
                           ? "its entry was lost or unreadable, made anew from the plan"
                           : "its entry was unreadable too often: failed"));
    }
    return !missing.empty();
  }

  // --- supervision ---
  LocalLaunch launch_settings(const fs::path& logs, const std::string& start) const {
    LocalLaunch settings;
    settings.worker_program = world_.paths.worker;
    settings.probe_program = world_.paths.probe;
    settings.wait_for_gpu = options_.wait_for_gpu;
    settings.data_directory = world_.paths.data;
    settings.cache_directory = layout_.run_directory().parent_path().parent_path() / ".arena_cache";
    settings.log_directory = logs;
    settings.log_name_start = start;
    settings.run_id = record_.run_id;
    settings.environment_names = session_.environment_names;
    settings.verbose = options_.verbosity > 0;
    return settings;
  }

  SupervisorOrder make_order(std::vector<AdoptedWorker> adopted, QueueSnapshot snapshot) const {
    SupervisorOrder order{layout_,      record_.run_id,     limits_,       session_.devices,
                          {},           std::move(adopted), options_.halt, std::move(snapshot),
                          options_.json};
    return order;
  }

  Result<SupervisorOutcome> supervise(SupervisorOrder order, WorkerLauncher& launcher) {
    ARENA_ASSIGN(order.used_incarnations, used_incarnations(disk_, layout_, order.snapshot));
    return arena::supervise(std::move(order), disk_, world_.clock, launcher, world_.console, log_);
  }

  // --- the end ---
  Result<int> conclude(const SupervisorOutcome& outcome, const fs::path& logs, const std::string& start) {
    ARENA_ASSIGN(log_, RunLog::open(logs / (start + "_postprocess.log")));
    ARENA_TRY(write_summary());
    ARENA_ASSIGN(const RunStatus status, read_status(disk_, layout_.run_directory()));
    const QueueCounts& counts = status.counts;
    const std::int64_t unfinished =
        static_cast<std::int64_t>(record_.tasks.size()) - counts.done - counts.failed;
    log_.info(fmt::format("{} done, {} failed, {} unfinished", counts.done, counts.failed, unfinished));
    if (options_.json) world_.console.result(status_json(status));
    if (unfinished > 0)
      tell(fmt::format("{} of {} tasks are left; go on with: {}", unfinished, record_.tasks.size(),
                       resume_command(layout_.run_directory())));
    if (unfinished == 0 && counts.failed > 0)
      tell(fmt::format("{} tasks failed; try them again with: {}", counts.failed,
                       resume_command(layout_.run_directory(), {"--retry-failed"})));
    if (outcome.signal != 0) return 128 + outcome.signal;
    return unfinished > 0 || counts.failed > 0 ? kUnfinished : kAllDone;
  }

  Status write_summary() {
    if (are_reports_current(layout_)) {
      tell(fmt::format("nothing to do; reports: {}", layout_.reports().string()));
      return {};
    }
    ARENA_ASSIGN(const RunReport report, refresh_reports(disk_, layout_, world_.console));
    if (!options_.json) world_.console.line(render_terminal(report, world_.console.color()));
    tell(fmt::format("reports: {}", layout_.reports().string()));
    return {};
  }

  // With --json standard output is for programs, and the log has it all the same.
  void tell(const std::string& text) {
    log_.info(text);
    if (!options_.json) world_.console.result(text);
  }
  void say(const std::string& text) {
    log_.info(text);
    if (!options_.json) world_.console.line(text);
  }
  void warn(const std::string& text) {
    log_.warning(text);
    world_.console.error("warning: " + text);
  }

  const QueueLayout& layout_;
  const RunRecord& record_;
  Session& session_;
  const Options& options_;
  World& world_;
  FileSystem& disk_;
  RunLog log_;
  RecoveryLimits limits_;
};

}  // namespace

int carry_out(Session session, const Options& options, World& world) {
  const auto code = Coordinator(session, options, world).run();
  if (code) return *code;
  world.console.error("go on with: " + resume_command(session.layout.run_directory()));
  return report_error(code.error(), world.console);
}

}  // namespace arena
