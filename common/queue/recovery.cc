#include "queue/recovery.h"

#include <algorithm>
#include <map>

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
  Status remove_leftovers(QueueSnapshot& snapshot);
  Result<TaskCopy> read_copy(QueueState state, const EntryName& name);
  Status remove_if_there(const fs::path& file);
  Result<std::optional<RunningEntry>> look_at(const EntryName& name);
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
  ARENA_ASSIGN(QueueSnapshot snapshot, take_snapshot(disk_, layout_));
  for (const auto& [state, name] : snapshot.foreign) {
    report_.warnings.push_back(fmt::format("{}/{} is no entry of the queue", name_of(state), name));
  }
  ARENA_TRY(remove_temporary_files(snapshot));
  ARENA_TRY(remove_leftovers(snapshot));
  std::vector<RunningEntry> running;
  for (const EntryName& name : snapshot.entries[QueueState::running]) {
    ARENA_ASSIGN(auto entry, look_at(name));
    if (entry) running.push_back(std::move(*entry));
  }
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
    ARENA_TRY(remove_if_there(layout_.state_directory(state) / name));
  }
  return {};
}

Status Recovery::remove_if_there(const fs::path& file) {
  auto removed = disk_.remove(file);
  if (!removed && removed.error().code == ErrorCode::not_found) return {};
  return removed;
}

Result<TaskCopy> Recovery::read_copy(QueueState state, const EntryName& name) {
  TaskCopy copy{state, name, {}, state == QueueState::running && owner_alive(name.worker_id)};
  auto descriptor = read_entry(disk_, layout_.entry(state, name), name);
  if (descriptor) {
    copy.descriptor = std::move(*descriptor);
  } else if (descriptor.error().code != ErrorCode::corrupt &&
             descriptor.error().code != ErrorCode::not_found) {
    return fail(std::move(descriptor).error());
  }
  return copy;
}

Status Recovery::remove_leftovers(QueueSnapshot& snapshot) {
  if (check_snapshot(snapshot, {}).duplicates.empty()) return {};
  std::map<std::int64_t, std::vector<std::pair<QueueState, EntryName>>> places;
  for (const auto& [state, entries] : snapshot.entries) {
    for (const EntryName& name : entries) places[name.index].emplace_back(state, name);
  }
  for (auto& [index, several] : places) {
    if (several.size() == 1) continue;
    // Against the way that entries go, so that one that was only seen twice on its way is found gone from its
    // old place.
    std::reverse(several.begin(), several.end());
    std::vector<TaskCopy> copies;
    for (const auto& [state, name] : several) {
      ARENA_ASSIGN(TaskCopy copy, read_copy(state, name));
      copies.push_back(std::move(copy));
    }
    const auto latest = latest_copy(copies);
    for (std::size_t i = 0; i < copies.size(); ++i) {
      const TaskCopy& copy = copies[i];
      if (latest && (i == *latest || !copy.descriptor))
        continue;  // an unreadable one in running/ is set aside later
      if (latest) {
        ARENA_TRY(remove_if_there(layout_.entry(copy.state, copy.name)));
        report_.warnings.push_back(fmt::format("removed {}/{}: {}/{} is a later state of the task",
                                               name_of(copy.state), format_entry_name(copy.name),
                                               name_of(copies[*latest].state),
                                               format_entry_name(copies[*latest].name)));
      }
      auto& entries = snapshot.entries[copy.state];
      if (!copy.owner_alive)
        entries.erase(std::remove(entries.begin(), entries.end(), copy.name), entries.end());
    }
  }
  return {};
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
    entry.problem = std::move(descriptor).error().message;
    return std::optional<RunningEntry>(std::move(entry));
  }
  entry.descriptor = std::move(*descriptor);
  auto text = disk_.read(layout_.task_result(entry.descriptor->task_name));
  // What an agent may have put in its place is no result; but a disk that cannot be read must not cost a
  // finished task.
  const bool is_answer = text || text.error().code == ErrorCode::not_found ||
                         text.error().code == ErrorCode::corrupt || text.error().code == ErrorCode::denied;
  if (!is_answer) return fail(std::move(text).error());
  entry.has_result =
      text && is_result_of(*text, run_id_, entry.descriptor->task_name, entry.descriptor->attempt);
  if (entry.has_result) entry.descriptor->result_digest = stated_seal(*text);
  return std::optional<RunningEntry>(std::move(entry));
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
      ARENA_TRY(record(entry, "requeue", std::nullopt, lost));
      return move_entry(disk_, layout_, entry.name, QueueState::running, QueueState::pending);
    case Action::to_failed: {
      TaskDescriptor descriptor = *entry.descriptor;
      if (descriptor.status != DescriptorStatus::failed) {
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

Result<RecoveryReport> recover(FileSystem& disk, Clock& clock, const QueueLayout& layout,
                               const RecoveryLimits& limits, const std::string& run_id,
                               const std::function<bool(const std::string& worker_id)>& owner_alive) {
  return Recovery(disk, clock, layout, limits, run_id, owner_alive).run();
}

}  // namespace arena
