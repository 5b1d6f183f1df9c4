#include "queue/entry_file.h"

#include <utility>

#include <fmt/format.h>

namespace arena {

Result<TaskDescriptor> read_entry(FileSystem& disk, const fs::path& file, const EntryName& name) {
  ARENA_ASSIGN(const std::string text, disk.read(file));
  auto descriptor = read_descriptor(text, file.string());
  if (!descriptor) return fail(ErrorCode::corrupt, std::move(descriptor).error().message);
  if (descriptor->index != name.index || slug_of(descriptor->task_name) != name.slug) {
    return fail(ErrorCode::corrupt, fmt::format("{}: holds task {} '{}', which is not what its name says",
                                                file.string(), descriptor->index, descriptor->task_name));
  }
  return descriptor;
}

Status rewrite_entry(FileSystem& disk, const fs::path& file, const TaskDescriptor& descriptor, Sync sync) {
  const fs::path temporary = temporary_name(file);
  ARENA_TRY(disk.create(temporary, write_descriptor(descriptor), sync));
  auto replaced = disk.rename(temporary, file, Replace::must);
  if (!replaced) (void)disk.remove(temporary);
  return replaced;
}

Status move_entry(FileSystem& disk, const QueueLayout& layout, const EntryName& name, QueueState from,
                  QueueState to) {
  EntryName target = name;
  if (to == QueueState::pending) target.worker_id.clear();
  return disk.rename(layout.entry(from, name), layout.entry(to, target), Replace::no);
}

Status sync_move(FileSystem& disk, const QueueLayout& layout, QueueState from, QueueState to) {
  ARENA_TRY(disk.sync_directory(layout.state_directory(to)));
  return disk.sync_directory(layout.state_directory(from));
}

Status set_aside(FileSystem& disk, const QueueLayout& layout, QueueState from, const EntryName& name,
                 const std::string& reason) {
  for (CorruptName target{name, 1};; ++target.number) {
    const fs::path file = layout.corrupt_entry(target);
    ARENA_ASSIGN(const bool taken, disk.exists(file));
    if (taken) continue;
    // The reason first: no entry is ever without one. After a crash in between the same name is chosen again,
    // and what was written for it is replaced.
    const fs::path reason_file = layout.corrupt_reason(target);
    auto removed = disk.remove(reason_file);
    if (!removed && removed.error().code != ErrorCode::not_found) return removed;
    ARENA_TRY(disk.create(reason_file, reason + "\n", Sync::no));
    auto moved = disk.rename(layout.entry(from, name), file, Replace::no);
    if (!moved && moved.error().code == ErrorCode::not_found) (void)disk.remove(reason_file);
    return moved;
  }
}

}  // namespace arena
