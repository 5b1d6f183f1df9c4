#pragma once
// What the tests of the queue share: planned tasks, results, and the one thing that must hold after every
// accident.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fakes/manual_clock.h"
#include "model/task_result.h"
#include "os/file_system.h"
#include "queue/entry_file.h"
#include "queue/queue_builder.h"
#include "queue/queue_snapshot.h"
#include "queue/recovery.h"
#include "queue/task_queue.h"

namespace arena::queue_test {

inline constexpr const char* kRunId = "00000000000000aa";

inline TaskDescriptor planned_task(std::int64_t index, std::int64_t total) {
  TaskDescriptor descriptor;
  descriptor.index = index;
  descriptor.total_tasks = total;
  descriptor.task_name = fmt::format("cpp2cpp/task_{}", index);
  descriptor.task_config_dir = fmt::format("tasks/cpp2cpp/task_{}/config.yaml", index);
  descriptor.workspace_path = fmt::format("/w/cpp2cpp_task_{}", index);
  descriptor.run_id = kRunId;
  return descriptor;
}

inline std::vector<TaskDescriptor> planned_tasks(std::int64_t total) {
  std::vector<TaskDescriptor> tasks;
  for (std::int64_t index = 1; index <= total; ++index) tasks.push_back(planned_task(index, total));
  return tasks;
}

inline std::vector<std::int64_t> indexes(std::int64_t total) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t index = 1; index <= total; ++index) numbers.push_back(index);
  return numbers;
}

// What a worker publishes before it finishes.
inline Status write_result(FileSystem& disk, const QueueLayout& layout, const TaskDescriptor& descriptor) {
  TaskResult result;
  result.task_name = descriptor.task_name;
  result.run_id = descriptor.run_id;
  result.attempt = descriptor.attempt;
  result.worker_id = descriptor.claimed_by;
  ARENA_TRY(make_directories(disk, layout.workspace(descriptor.task_name)));
  ARENA_TRY(disk.sync_directory(layout.run_directory()));
  return publish(disk, layout.task_result(descriptor.task_name), write_task_result(result), Sync::yes,
                 Replace::yes);
}

// The claim itself, where a test has no use for the ways not to get one.
inline Claim claim_one(TaskQueue& queue) {
  auto claim = queue.claim();
  REQUIRE_MESSAGE(claim, claim.error().message);
  REQUIRE(*claim);
  return **claim;
}

// Result first, then the move, as a worker does it.
inline Status complete(FileSystem& disk, const QueueLayout& layout, TaskQueue& queue, const Claim& claim) {
  ARENA_TRY(write_result(disk, layout, claim.descriptor));
  TaskDescriptor descriptor = claim.descriptor;
  descriptor.cause = CauseClass::completed;
  return queue.finish(claim, descriptor, QueueState::done);
}

inline RecoveryReport recover_all_dead(FileSystem& disk, Clock& clock, const QueueLayout& layout,
                                       std::int64_t max_attempts = 3) {
  auto report =
      recover(disk, clock, layout, {max_attempts}, kRunId, [](const std::string&) { return false; });
  REQUIRE_MESSAGE(report, report.error().message);
  return *report;
}

inline std::vector<std::string> names_in(FileSystem& disk, const fs::path& directory) {
  auto names = disk.list(directory);
  REQUIRE_MESSAGE(names, names.error().message);
  std::sort(names->begin(), names->end());
  return *names;
}

// State and descriptor of every task, by index; a task in two places or in none fails the test.
struct Standing {
  QueueState state;
  TaskDescriptor descriptor;
};
inline std::map<std::int64_t, Standing> standings(FileSystem& disk, const QueueLayout& layout,
                                                  std::int64_t total) {
  const auto snapshot = take_snapshot(disk, layout);
  REQUIRE_MESSAGE(snapshot, snapshot.error().message);
  const QueueCheck check = check_snapshot(*snapshot, indexes(total));
  CHECK(check.missing.empty());
  CHECK(check.duplicates.empty());
  CHECK(snapshot->foreign.empty());
  std::map<std::int64_t, Standing> found;
  for (const auto& [state, entries] : snapshot->entries) {
    for (const EntryName& name : entries) {
      auto descriptor = read_entry(disk, layout.entry(state, name), name);
      REQUIRE_MESSAGE(descriptor, descriptor.error().message);
      found.insert({name.index, {state, *descriptor}});
    }
  }
  CHECK(found.size() == static_cast<std::size_t>(total));
  return found;
}

}  // namespace arena::queue_test
