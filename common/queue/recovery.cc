#include "queue/recovery.h"

#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "base/sealed_text.h"
#include "base/step.h"
#include "model/task_result.h"
#include "queue/entry_file.h"
#include "queue/event_ledger.h"
#include "queue/queue_snapshot.h"

namespace arena {

namespace {

using Action = RecoveryStep::Action;

// A claim counts from the moment its claimer's name is in the descriptor; before that, the attempt in it is
// the one before.
bool claim_is_written(const RunningEntry& entry) {
  return entry.descriptor->claimed_by == entry.name.worker_id;
}

Action action_for(const RunningEntry& entry, const RecoveryLimits& limits) {
  if (entry.owner_alive) return Action::keep;
  if (!entry.descriptor) return Action::to_corrupt;
  if (claim_is_written(entry)) {
    if (entry.descriptor->status == DescriptorStatus::failed) return Action::to_failed;
    if (entry.has_result) return Action::to_done;
  }
  const std::int64_t counted = entry.descriptor->attempt - entry.descriptor->uncounted;
  return counted < limits.max_attempts ? Action::to_pending : Action::to_failed;
}

class Recovery {
 public:
  Recovery(FileSystem& disk, Clock& clock, const QueueLayout& layout, const RecoveryLimits& limits,
           const std::string& run_id, const std::function<bool(const std::string&)>& owner_alive)
      : disk_(disk),
        clock_(clock),
        layout_(layout),
        limits_(limits),
        run_id_(run_id),
        ask_owner_(owner_alive) {}

  Result<RecoveryReport> run();

 private:
  bool owner_alive(const std::string& worker_id);
  Status remove_temporary_files(const QueueSnapshot& snapshot);
  Result<std::vector<RunningEntry>> look_at_running(const QueueSnapshot& snapshot);
  Result<std::optional<RunningEntry>> look_at(const EntryName& name);
  Result<bool> was_moved_on(const EntryName& name);
  Status perform(const RunningEntry& entry, Action action);
  Status end(const RunningEntry& entry, TaskDescriptor descriptor, QueueState target);
  Status record(const RunningEntry& entry, const std::string& kind, std::optional<CauseClass> cause,
                const std::string& message);

  FileSystem& disk_;
  Clock& clock_;
  const QueueLayout& layout_;
  const RecoveryLimits& limits_;
  const std::string& run_id_;
  const std::function<bool(const std::string&)>& ask_owner_;
  std::map<std::string, bool> alive_;
  RecoveryReport report_;
};

Result<RecoveryReport> Recovery::run() {
  ARENA_ASSIGN(const QueueSnapshot snapshot, take_snapshot(disk_, layout_));
  for (const auto& [state, name] : snapshot.foreign) {
    report_.warnings.push_back(fmt::format("{}/{} is no entry of the queue", name_of(state), name));
  }
  ARENA_TRY(remove_temporary_files(snapshot));
  ARENA_ASSIGN(const auto running, look_at_running(snapshot));
  const auto steps = plan_recovery(running, limits_);
  step("recover.planned");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    ARENA_TRY(perform(running[i], steps[i].action));
    report_.steps.emplace_back(steps[i].name, steps[i].action);
    step("recover.step");
  }
  ARENA_ASSIGN(const QueueCheck check, check_queue(disk_, layout_, {}));
  report_.warnings.insert(report_.warnings.end(), check.duplicates.begin(), check.duplicates.end());
  return std::move(report_);
}

bool Recovery::owner_alive(const std::string& worker_id) {
  const auto known = alive_.find(worker_id);
  return known != alive_.end() ? known->second
                               : alive_.emplace(worker_id, ask_owner_(worker_id)).first->second;
}

Status Recovery::remove_temporary_files(const QueueSnapshot& snapshot) {
  for (const auto& [state, name] : snapshot.temporary) {
    // Workers write in running/ only, elsewhere it was a coordinator, and this one is the only one.
    const EntryName meant = parse_temporary_entry_name(name).value_or(EntryName{});
    if (state == QueueState::running && owner_alive(meant.worker_id)) continue;
    auto removed = disk_.remove(layout_.state_directory(state) / name);
    if (!removed && removed.error().code != ErrorCode::not_found) return removed;
  }
  return {};
}

Result<std::vector<RunningEntry>> Recovery::look_at_running(const QueueSnapshot& snapshot) {
  std::unordered_map<std::int64_t, int> places;
  for (const auto& [state, entries] : snapshot.entries) {
    for (const EntryName& name : entries) ++places[name.index];
  }
  std::vector<RunningEntry> running;
  for (const EntryName& name : snapshot.entries.at(QueueState::running)) {
    // A live worker's entry may only have been seen twice on its way; it is left alone in any case.
    if (places[name.index] > 1 && !owner_alive(name.worker_id)) {
      ARENA_ASSIGN(const bool moved_on, was_moved_on(name));
      if (!moved_on) continue;
      ARENA_TRY(disk_.remove(layout_.entry(QueueState::running, name)));
      report_.warnings.push_back(fmt::format("removed running/{}: the same file had been moved on already",
                                             format_entry_name(name)));
      continue;
    }
    ARENA_ASSIGN(auto entry, look_at(name));
    if (entry) running.push_back(std::move(*entry));
  }
  return running;
}

Result<std::optional<RunningEntry>> Recovery::look_at(const EntryName& name) {
  RunningEntry entry;
  entry.name = name;
  // The owner first: what is read after it was dead is its last word. The other way round a result written in
  // between would be missed and its task run twice.
  entry.owner_alive = owner_alive(name.worker_id);
  if (entry.owner_alive) return std::optional<RunningEntry>(std::move(entry));
  auto descriptor = read_entry(disk_, layout_.entry(QueueState::running, name), name);
  if (!descriptor) {
    if (descriptor.error().code == ErrorCode::not_found)
      return std::optional<RunningEntry>();  // its last act was to finish
    if (descriptor.error().code != ErrorCode::corrupt) return fail(std::move(descriptor).error());
    return std::optional<RunningEntry>(std::move(entry));
  }
  entry.descriptor = std::move(*descriptor);
  auto text = disk_.read(layout_.task_result(entry.descriptor->task_name));
  // Anything but a file that can be read is no result; what the agent left in its place is not the queue's
  // business.
  entry.has_result =
      text && is_result_of(*text, run_id_, entry.descriptor->task_name, entry.descriptor->attempt);
  if (entry.has_result) entry.descriptor->result_digest = stated_seal(*text);
  return std::optional<RunningEntry>(std::move(entry));
}

Result<bool> Recovery::was_moved_on(const EntryName& name) {
  auto here = disk_.read(layout_.entry(QueueState::running, name));
  if (!here) return fail(std::move(here).error());
  for (const QueueState state : {QueueState::done, QueueState::failed}) {
    auto there = disk_.read(layout_.entry(state, name));
    if (there && *there == *here) return true;
    if (!there && there.error().code != ErrorCode::not_found) return fail(std::move(there).error());
  }
  return false;
}

// The ledger first: an attempt may stand in it twice after a crash, but never be missing.
Status Recovery::perform(const RunningEntry& entry, Action action) {
  const std::string lost = fmt::format("worker {} ended during the attempt", entry.name.worker_id);
  switch (action) {
    case Action::keep:
      return {};
    case Action::to_done: {
      TaskDescriptor descriptor = *entry.descriptor;
      descriptor.status = DescriptorStatus::done;
      descriptor.cause = CauseClass::completed;
      descriptor.cause_message.clear();
      return end(entry, std::move(descriptor), QueueState::done);
    }
    case Action::to_pending:
      ARENA_TRY(record(entry, "requeue", CauseClass::infra_error, lost));
      return move_entry(disk_, layout_, entry.name, QueueState::running, QueueState::pending);
    case Action::to_failed: {
      TaskDescriptor descriptor = *entry.descriptor;
      if (descriptor.status != DescriptorStatus::failed || !claim_is_written(entry)) {
        descriptor.status = DescriptorStatus::failed;
        descriptor.cause = CauseClass::infra_error;
        descriptor.cause_message = fmt::format("{}, no attempt is left of {}", lost, limits_.max_attempts);
      }
      return end(entry, std::move(descriptor), QueueState::failed);
    }
    case Action::to_corrupt:
      ARENA_TRY(record(entry, "corrupt", std::nullopt, entry.problem));
      return set_aside(disk_, layout_, QueueState::running, entry.name, entry.problem);
  }
  return {};
}

Status Recovery::end(const RunningEntry& entry, TaskDescriptor descriptor, QueueState target) {
  descriptor.worker_id = entry.name.worker_id;
  if (target == QueueState::failed) descriptor.result_digest.clear();
  ARENA_TRY(record(entry, "end", descriptor.cause, descriptor.cause_message));
  ARENA_TRY(rewrite_entry(disk_, layout_.entry(QueueState::running, entry.name), descriptor, Sync::yes));
  step("recover.step");
  ARENA_TRY(move_entry(disk_, layout_, entry.name, QueueState::running, target));
  step("recover.step");
  return sync_move(disk_, layout_, QueueState::running, target);
}

Status Recovery::record(const RunningEntry& entry, const std::string& kind, std::optional<CauseClass> cause,
                        const std::string& message) {
  Event event;
  event.time = format_utc(clock_.now());
  event.kind = kind;
  event.writer = "coordinator";
  if (entry.descriptor) {
    event.task = entry.descriptor->task_name;
    event.attempt = entry.descriptor->attempt;
  }
  if (cause) event.cause = name_of(*cause);
  event.message = message;
  event.more["entry"] = format_entry_name(entry.name);
  return append_event(disk_, layout_, event);
}

}  // namespace

std::vector<RecoveryStep> plan_recovery(const std::vector<RunningEntry>& running,
                                        const RecoveryLimits& limits) {
  std::vector<RecoveryStep> steps;
  steps.reserve(running.size());
  for (const RunningEntry& entry : running) steps.push_back({entry.name, action_for(entry, limits)});
  return steps;
}

Result<RecoveryReport> recover(FileSystem& disk, Clock& clock, const QueueLayout& layout,
                               const RecoveryLimits& limits, const std::string& run_id,
                               const std::function<bool(const std::string& worker_id)>& owner_alive) {
  return Recovery(disk, clock, layout, limits, run_id, owner_alive).run();
}

}  // namespace arena
