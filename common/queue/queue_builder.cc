#include "queue/queue_builder.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/step.h"
#include "base/text.h"
#include "model/task_result.h"
#include "queue/entry_file.h"

namespace arena {

namespace {

// Up to here each file is synced by itself: that waits for no other program's data. A thousand of them would
// take as long as a small task.
constexpr std::size_t kSmallQueue = 64;

EntryName entry_of(const TaskDescriptor& descriptor) {
  return {"", descriptor.index, slug_of(descriptor.task_name)};
}

Status remove_with_contents(FileSystem& disk, const fs::path& path) {
  auto removed = disk.remove(path);
  if (removed || removed.error().code == ErrorCode::not_found) return {};
  if (removed.error().code != ErrorCode::exists) return removed;
  ARENA_ASSIGN(const auto names, disk.list(path));
  for (const std::string& name : names) ARENA_TRY(remove_with_contents(disk, path / name));
  return disk.remove(path);
}

Result<std::vector<std::string>> list_if_there(FileSystem& disk, const fs::path& directory) {
  auto names = disk.list(directory);
  if (!names && names.error().code == ErrorCode::not_found) return std::vector<std::string>();
  return names;
}

// The highest attempt that left a directory or a result. One that left neither can be given its number again.
Result<std::int64_t> last_attempt(FileSystem& disk, const QueueLayout& layout, const std::string& task_name) {
  std::int64_t last = 0;
  ARENA_ASSIGN(const auto names, list_if_there(disk, layout.attempts(task_name)));
  for (const std::string& name : names) last = std::max(last, parse_integer(name).value_or(0));
  const fs::path file = layout.task_result(task_name);
  auto text = disk.read(file);
  if (!text && text.error().code == ErrorCode::not_found) return last;
  if (!text) return fail(std::move(text).error());
  const auto result = read_task_result(*text, file.string());
  return result ? std::max(last, result->attempt) : last;
}

Result<int> count_set_aside(FileSystem& disk, const QueueLayout& layout, std::int64_t index) {
  ARENA_ASSIGN(const auto names, disk.list(layout.corrupt_directory()));
  int count = 0;
  for (const std::string& name : names) {
    const auto corrupt = parse_corrupt_name(name);
    if (corrupt && corrupt->entry.index == index) ++count;
  }
  return count;
}

}  // namespace

Status build_queue(FileSystem& disk, const QueueLayout& layout,
                   const std::vector<TaskDescriptor>& descriptors) {
  ARENA_ASSIGN(const bool built, disk.exists(layout.parallel()));
  if (built) {
    return fail(ErrorCode::exists,
                fmt::format("cannot build the queue '{}': it is there", layout.parallel().string()));
  }
  const fs::path root = layout.parallel_being_built();
  const auto being_built = [&](const fs::path& final_path) { return root / final_path.filename(); };
  ARENA_TRY(remove_with_contents(disk, root));
  ARENA_TRY(disk.make_directory(root));
  std::vector<fs::path> directories;
  for (const QueueState state : kQueueStates)
    directories.push_back(being_built(layout.state_directory(state)));
  for (const fs::path& directory :
       {layout.corrupt_directory(), layout.workers_directory(), layout.events_directory()}) {
    directories.push_back(being_built(directory));
  }
  for (const fs::path& directory : directories) ARENA_TRY(disk.make_directory(directory));
  ARENA_TRY(disk.create(being_built(layout.coordinator_lock()), "", Sync::no));
  const bool is_small = descriptors.size() <= kSmallQueue;
  for (const TaskDescriptor& descriptor : descriptors) {
    const bool complete = descriptor.status == DescriptorStatus::already_complete;
    const fs::path directory = layout.state_directory(complete ? QueueState::done : QueueState::pending);
    const fs::path file = being_built(directory) / format_entry_name(entry_of(descriptor));
    ARENA_TRY(disk.create(file, write_descriptor(descriptor), is_small ? Sync::yes : Sync::no));
  }
  step("enqueue.built");
  if (is_small) {
    for (const fs::path& directory : directories) ARENA_TRY(disk.sync_directory(directory));
    ARENA_TRY(disk.sync_directory(root));
  } else {
    ARENA_TRY(disk.sync_file_system(root));
  }
  step("enqueue.synced");
  ARENA_TRY(disk.rename(root, layout.parallel(), Replace::no));
  step("enqueue.published");
  return disk.sync_directory(layout.run_directory());
}

Status enqueue(FileSystem& disk, const QueueLayout& layout, const TaskDescriptor& descriptor) {
  const fs::path file = layout.entry(QueueState::pending, entry_of(descriptor));
  return publish(disk, file, write_descriptor(descriptor), Sync::yes, Replace::no);
}

Result<Regenerated> regenerate(FileSystem& disk, const QueueLayout& layout, TaskDescriptor fresh) {
  ARENA_ASSIGN(fresh.attempt, last_attempt(disk, layout, fresh.task_name));
  fresh.uncounted = fresh.attempt;
  ARENA_ASSIGN(const int set_aside, count_set_aside(disk, layout, fresh.index));
  if (set_aside < kMaxUnreadable) {
    ARENA_TRY(enqueue(disk, layout, fresh));
    return Regenerated::enqueued;
  }
  fresh.status = DescriptorStatus::failed;
  fresh.cause = CauseClass::infra_error;
  fresh.cause_message =
      fmt::format("descriptor unreadable {} times, see '{}'", set_aside, layout.corrupt_directory().string());
  const fs::path file = layout.entry(QueueState::failed, entry_of(fresh));
  ARENA_TRY(publish(disk, file, write_descriptor(fresh), Sync::yes, Replace::no));
  return Regenerated::failed;
}

Status requeue_finished(FileSystem& disk, const QueueLayout& layout, QueueState from, const EntryName& name) {
  ARENA_ASSERT(from == QueueState::done || from == QueueState::failed);
  const fs::path file = layout.entry(from, name);
  auto read = read_entry(disk, file, name);
  if (!read && read.error().code == ErrorCode::corrupt) {
    ARENA_TRY(set_aside(disk, layout, from, name, read.error().message));
  }
  if (!read) return fail(std::move(read).error());
  TaskDescriptor descriptor = std::move(*read);
  descriptor.status = DescriptorStatus::pending;
  descriptor.uncounted = descriptor.attempt;
  descriptor.evaluations = 0;
  descriptor.worker_id.clear();
  descriptor.result_digest.clear();
  // The old result still stands: without its claimer's name it does not count for the next attempt.
  descriptor.claimed_by.clear();
  descriptor.claimed_at.clear();
  // Written before the move: in pending/ a worker could have it at once.
  ARENA_TRY(rewrite_entry(disk, file, descriptor, Sync::yes));
  step("requeue.rewritten");
  ARENA_TRY(move_entry(disk, layout, name, from, QueueState::pending));
  step("requeue.moved");
  return sync_move(disk, layout, from, QueueState::pending);
}

}  // namespace arena
