#include "coordinator/takeover.h"

#include <fmt/format.h>
#include <algorithm>
#include <set>

#include "base/step.h"
#include "coordinator/supervision.h"
#include "coordinator/worker_roster.h"
#include "queue/event_ledger.h"
#include "queue/halt.h"

namespace arena {

namespace {

Status note_adoption(FileSystem& disk, Clock& clock, const QueueLayout& layout, const std::string& id) {
  Event event;
  event.time = format_utc(clock.now());
  event.kind = "adopt";
  event.writer = "coordinator";
  event.more["worker"] = id;
  return append_event(disk, layout, event);
}

Status set_worker_halt(FileSystem& disk, const QueueLayout& layout, const std::string& id, WorkerFate fate) {
  if (fate == WorkerFate::adopt) return clear_halt(disk, layout.worker_halt(id));
  return request_halt(disk, layout.worker_halt(id),
                      {"coordinator", "drain", "its slot is not wanted any more"});
}

}  // namespace

WorkerFate fate_of(const WorkerRecord& record, const WorkerId& id, const TakeoverOrder& order,
                   bool slot_is_taken) {
  if (order.end_all || record.run_id != order.run_id || record.protocol_version != kWorkerProtocolVersion ||
      record.worker_id != format_worker_id(id)) {
    return WorkerFate::end;
  }
  return id.slot < order.slots && !slot_is_taken ? WorkerFate::adopt : WorkerFate::drain;
}

Result<Takeover> take_over(FileSystem& disk, Clock& clock, const QueueLayout& layout,
                           const TakeoverOrder& order) {
  ARENA_ASSIGN(std::vector<OpenWorker> workers, list_open_workers(disk, layout));
  for (const OpenWorker& worker : workers) {
    if (worker.elsewhere.empty()) continue;
    const std::string id = format_worker_id(worker.id);
    return fail(
        ErrorCode::refused,
        fmt::format("worker {} runs on host {}: resume or stop the run there; if that host is gone for "
                    "good, remove '{}'",
                    id, worker.elsewhere, layout.worker_lock(id).string()));
  }

  Takeover takeover;
  std::vector<const LaunchedProcess*> to_end;
  std::vector<std::string> gone;
  std::set<std::int64_t> taken;
  for (OpenWorker& worker : workers) {
    const std::string id = format_worker_id(worker.id);
    if (!worker.record) {
      ARENA_TRY(retire_unknown_worker(disk, layout, order.run_id, id));
      continue;
    }
    const WorkerFate fate = worker.process
                                ? fate_of(*worker.record, worker.id, order, taken.contains(worker.id.slot))
                                : WorkerFate::end;
    if (fate == WorkerFate::end) {
      if (worker.process) {
        to_end.push_back(&*worker.process);
        takeover.news.push_back(fmt::format("worker {} (pid {}) is ended", id, worker.process->pid()));
      }
      gone.push_back(id);
      continue;
    }
    step("adopt.opened");
    if (fate == WorkerFate::adopt) taken.insert(worker.id.slot);
    ARENA_TRY(set_worker_halt(disk, layout, id, fate));
    ARENA_TRY(note_adoption(disk, clock, layout, id));
    takeover.news.push_back(fmt::format("worker {} (pid {}) is alive and {}", id, worker.process->pid(),
                                        fate == WorkerFate::adopt ? "adopted" : "leaves after its task"));
    takeover.adopted.push_back({worker.id, std::move(*worker.process), fate == WorkerFate::drain});
    step("adopt.watching");
  }

  // Ended, then swept, then recovered: a task must not be given to another while anything still works on it.
  ARENA_TRY(end_processes(to_end, kStopGrace));
  for (const std::string& id : gone) {
    ARENA_ASSIGN(const int killed, sweep_worker(order.run_id, id));
    if (killed > 0)
      takeover.warnings.push_back(fmt::format("worker {} had left {} processes, killed", id, killed));
  }
  const auto is_alive = [&](const std::string& id) {
    return std::any_of(takeover.adopted.begin(), takeover.adopted.end(),
                       [&](const AdoptedWorker& worker) { return format_worker_id(worker.id) == id; });
  };
  ARENA_ASSIGN(const RecoveryReport report,
               recover(disk, clock, layout, order.limits, order.run_id, is_alive));
  takeover.warnings.insert(takeover.warnings.end(), report.warnings.begin(), report.warnings.end());
  const auto back = std::count_if(report.steps.begin(), report.steps.end(), [](const auto& done) {
    return done.second == RecoveryStep::Action::to_pending;
  });
  if (back > 0)
    takeover.news.push_back(
        fmt::format("{} interrupted task{} to pending", back, back == 1 ? " goes back" : "s go back"));
  for (const std::string& id : gone) ARENA_TRY(retire_worker(disk, layout, id));
  return takeover;
}

}  // namespace arena
