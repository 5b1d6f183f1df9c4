#pragma once
// One entry's file, as both sides of the queue handle it. Inside this module only.
#include <string>

#include "model/task_descriptor.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"

namespace arena {

// corrupt: it cannot be read as the descriptor that `name` orders. not_found: it is gone. Anything else: the
// disk's error.
Result<TaskDescriptor> read_entry(FileSystem& disk, const fs::path& file, const EntryName& name);

// Puts `descriptor` in the place of the entry that stands at `file`. not_found if there is none (any more):
// nothing then appears under that name, or a task that somebody requeued would be there twice. With Sync::yes
// the content is on the disk before the name leads to it; the directory is not synced.
Status rewrite_entry(FileSystem& disk, const fs::path& file, const TaskDescriptor& descriptor, Sync sync);

// One rename. Into pending/ the entry loses its worker's prefix, elsewhere it keeps its name.
Status move_entry(FileSystem& disk, const QueueLayout& layout, const EntryName& name, QueueState from,
                  QueueState to);
// Makes such a move survive power loss: the destination first, so that the entry is never in neither
// directory.
Status sync_move(FileSystem& disk, const QueueLayout& layout, QueueState from, QueueState to);

// Moves an entry to corrupt/ and writes `reason` beside it.
Status set_aside(FileSystem& disk, const QueueLayout& layout, QueueState from, const EntryName& name,
                 const std::string& reason);

}  // namespace arena
