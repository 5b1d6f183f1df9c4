#pragma once
// How tasks get into the queue, and back into it. The caller holds coordinator.lock.
#include <cstdint>
#include <vector>

#include "model/task_descriptor.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"

namespace arena {

// Builds .parallel.new/ with every descriptor in pending/ (those already complete in done/), syncs the whole
// file system once, and renames it into place: after a crash or power loss there is the whole queue or none.
// What an earlier attempt left is removed first. `exists` if the run has a queue.
Status build_queue(FileSystem& disk, const QueueLayout& layout,
                   const std::vector<TaskDescriptor>& descriptors);

// Adds a task to a queue that exists (resume with more tasks), synced. `exists` if pending/ holds it.
Status enqueue(FileSystem& disk, const QueueLayout& layout, const TaskDescriptor& descriptor);

// A task whose entry was set aside this often is not tried again.
inline constexpr int kMaxUnreadable = 3;

enum class Regenerated { enqueued, failed };
// A planned task that is in no state (check_queue) gets `fresh`, its descriptor as planned. Its attempts go
// on behind the last one that left a trace, so that no number is used twice. When corrupt/ holds
// kMaxUnreadable entries of the task, it goes to failed/ with cause infra_error instead.
Result<Regenerated> regenerate(FileSystem& disk, const QueueLayout& layout, TaskDescriptor fresh);

// failed/ -> pending/ (retry, --retry-failed) or done/ -> pending/ (retry RUN TASK), with a fresh attempt
// budget. An entry that cannot be read goes to corrupt/ and `corrupt` is returned: regenerate it.
Status requeue_finished(FileSystem& disk, const QueueLayout& layout, QueueState from, const EntryName& name);

}  // namespace arena
