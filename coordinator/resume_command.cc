#include <fmt/format.h>

#include "coordinator/agent_preflight.h"
#include "coordinator/commands.h"
#include "coordinator/descriptor_order.h"
#include "coordinator/planning.h"
#include "coordinator/run_directory.h"
#include "coordinator/run_display.h"
#include "coordinator/run_lock.h"
#include "coordinator/session.h"
#include "queue/queue_builder.h"
#include "queue/queue_snapshot.h"

namespace arena {

namespace {

// What --dry-run says: nothing is locked, so a live run is described as well.
Result<int> describe_resume(const Options& options, World& world, const QueueLayout& layout) {
  ARENA_ASSIGN(const StoredRecord stored, read_newest_record(world.disk, layout));
  ARENA_ASSIGN(const PreparedResume prepared, prepare_resume(options, world, stored.record));
  const std::vector<PlannedTask>& added = prepared.differences.added;
  ARENA_ASSIGN(const bool has_queue, world.disk.exists(layout.parallel()));
  QueueCounts counts;
  counts.pending = static_cast<std::int64_t>(stored.record.tasks.size());
  if (has_queue) {
    ARENA_ASSIGN(const QueueSnapshot snapshot, take_snapshot(world.disk, layout));
    counts = counts_of(snapshot);
  }
  for (const PlannedTask& task : added)
    world.console.result(fmt::format("add   {:06} {}", task.index, task.name));
  world.console.result(fmt::format(
      "{}: {} pending, {} running, {} done, {} failed{}, {} added, on {} slots; nothing was changed",
      layout.run_name(), counts.pending, counts.running, counts.done, counts.failed,
      options.retry_failed ? " (to be tried again)" : "", added.size(), prepared.run.devices.size()));
  return kAllDone;
}

// A task whose configuration was broken when its descriptor was written: a new one, with the digest of what
// is there now. Lost in between by a crash, it is made anew as any lost entry is.
Status renew(FileSystem& disk, const QueueLayout& layout, const RunRecord& record,
             const QueueSnapshot& snapshot, const PlannedTask& task) {
  for (const auto& [state, entries] : snapshot.entries) {
    if (state != QueueState::pending && state != QueueState::failed) continue;
    for (const EntryName& entry : entries) {
      if (entry.index != task.index) continue;
      const Status removed = disk.remove(layout.entry(state, entry));
      if (!removed)
        return removed.error().code == ErrorCode::not_found ? Status{} : removed;  // claimed meanwhile
      const auto made = regenerate(disk, layout, fresh_descriptor(record, layout, task));
      if (!made) return fail(made.error());
    }
  }
  return {};
}

// New tasks, repaired configurations or another number of attempts need a record of their own; workers read
// the newest one.
Status record_changes(FileSystem& disk, const QueueLayout& layout, const PreparedResume& prepared,
                      const StoredRecord& stored, bool has_queue) {
  const PlanComparison& differences = prepared.differences;
  const RunRecord& record = prepared.run.record;
  if (differences.added.empty() && differences.repaired.empty() &&
      record.config.max_attempts == stored.record.config.max_attempts) {
    return {};
  }
  ARENA_TRY(
      publish(disk, layout.run_record(stored.number + 1), write_run_record(record), Sync::yes, Replace::no));
  if (!has_queue) return {};
  // Those that are not there after a crash are made from the record by the next resume.
  for (const PlannedTask& task : differences.added)
    ARENA_TRY(enqueue(disk, layout, fresh_descriptor(record, layout, task)));
  ARENA_ASSIGN(const QueueSnapshot snapshot, take_snapshot(disk, layout));
  for (const PlannedTask& task : differences.repaired) ARENA_TRY(renew(disk, layout, record, snapshot, task));
  return {};
}

// No agent will be started: the preflight would be for nothing.
Result<bool> nothing_to_run(FileSystem& disk, const QueueLayout& layout) {
  ARENA_ASSIGN(const QueueSnapshot snapshot, take_snapshot(disk, layout));
  return snapshot.count(QueueState::pending) == 0 && snapshot.count(QueueState::running) == 0;
}

Result<Session> reopen(const Options& options, World& world, const QueueLayout& layout) {
  ARENA_ASSIGN(bool has_queue, world.disk.exists(layout.parallel()));
  std::optional<FileLock> building;
  std::optional<FileLock> lock;
  if (!has_queue) {
    ARENA_ASSIGN(building, lock_unbuilt_run(layout));
    ARENA_ASSIGN(has_queue, world.disk.exists(layout.parallel()));  // built while we came
  }
  if (has_queue) {
    ARENA_ASSIGN(lock, lock_run(layout));
  }
  ARENA_ASSIGN(const StoredRecord stored, read_newest_record(world.disk, layout));
  ARENA_ASSIGN(PreparedResume prepared, prepare_resume(options, world, stored.record));
  PreparedRun& run = prepared.run;
  for (const std::string& warning : run.warnings) world.console.error("warning: " + warning);
  for (const PlannedTask& task : prepared.differences.added)
    world.console.line(fmt::format("added: {}", task.name));
  for (const PlannedTask& task : prepared.differences.repaired) {
    world.console.line(fmt::format("{}: its configuration can be used now, it runs", task.name));
  }
  bool idle = false;
  if (has_queue && prepared.differences.added.empty()) {
    ARENA_ASSIGN(idle, nothing_to_run(world.disk, layout));
  }
  if (!idle) ARENA_TRY(preflight(run.record.config, world, options));
  ARENA_TRY(record_changes(world.disk, layout, prepared, stored, has_queue));
  if (!has_queue) {
    ARENA_TRY(build_queue(world.disk, layout, fresh_descriptors(run.record, layout)));
    ARENA_ASSIGN(lock, lock_run(layout));
  }
  if (run.devices.size() != stored.record.devices.size()) {
    world.console.line(
        fmt::format("{} slots instead of {}", run.devices.size(), stored.record.devices.size()));
  }
  return Session{layout, std::move(run.record), std::move(*lock), std::move(run.devices),
                 std::move(run.environment_names)};
}

}  // namespace

int resume_run(const Options& options, World& world) {
  std::vector<std::string> warnings;
  const auto found = options.resume_latest ? find_newest_run(world.disk, options.workspace_root, &warnings)
                                           : find_run(world.disk, options.resume_run, options.workspace_root);
  for (const std::string& warning : warnings) world.console.error("warning: " + warning);
  if (!found) return report_error(found.error(), world.console);
  const QueueLayout layout(*found);
  if (options.dry_run) {
    const auto code = describe_resume(options, world, layout);
    return code ? *code : report_error(code.error(), world.console);
  }
  auto session = reopen(options, world, layout);
  if (!session) return report_error(session.error(), world.console);
  if (!options.json) world.console.line(fmt::format("resuming {}", layout.run_directory().string()));
  return carry_out(std::move(*session), options, world);
}

}  // namespace arena
