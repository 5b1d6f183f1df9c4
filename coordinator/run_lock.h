#pragma once
// Who may change a run: the one holder of .parallel/coordinator.lock. Taken before anything else is looked
// at.
#include "base/path.h"
#include "base/result.h"
#include "os/file_lock.h"
#include "queue/queue_layout.h"

namespace arena {

// Of a run with a queue. `refused`, in one line, when another coordinator or command works on it.
Result<FileLock> lock_run(const QueueLayout& layout);

// Of a run whose queue is not built yet (its coordinator is at it, or died): the lock is on run.yaml.
Result<FileLock> lock_unbuilt_run(const QueueLayout& layout);

// Whether somebody holds the lock, found out without touching it: even a short hold could turn a real
// coordinator away.
bool is_run_locked(const QueueLayout& layout);

}  // namespace arena
