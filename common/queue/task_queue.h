#pragma once
// The worker's side of a run's queue: directories whose entries move by rename. The coordinator's side is
// queue_builder.h, queue_snapshot.h and recovery.h. What each step withstands is argued in docs/queue.md.
#include <optional>
#include <string>
#include <vector>

#include "model/task_descriptor.h"
#include "os/clock.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"

namespace arena {

struct Claim {
  EntryName name;             // as it stands in running/
  TaskDescriptor descriptor;  // attempt already counted
};

// Why a claim gave nothing.
enum class NoClaim { empty, halted };

// One worker's view. Lists pending/ once in plan order, skips what others took, lists again only when
// exhausted, and says empty only after two looks in a row that showed nothing. Single-threaded; owns nothing
// on disk but the entries it claimed, and even those only until somebody else moved them: every call here
// then answers not_found or goes on.
class TaskQueue {
 public:
  TaskQueue(FileSystem& disk, Clock& clock, QueueLayout layout, std::string worker_id);

  // The next task, owned by this worker, its descriptor rewritten in running/ with attempt + 1. An entry that
  // cannot be read goes to corrupt/ and the search goes on. An error stops the worker loudly (disk full,
  // permission). The run's halt file is looked at once per call; the worker's own halt file is the caller's
  // business.
  Result<tl::expected<Claim, NoClaim>> claim();

  // running/ -> done/ or failed/ with `descriptor` as its last state (status and worker id are set here),
  // synced: it survives power loss when the call has returned. not_found: the task was given away meanwhile;
  // the caller drops its result and leaves.
  Status finish(const Claim& claim, TaskDescriptor descriptor, QueueState target);

  // running/ -> pending/, a bare rename after the cause was written into the descriptor. With cause quota or
  // cancelled the attempt is marked uncounted here. not_found as above.
  Status hand_back(const Claim& claim, TaskDescriptor descriptor);

 private:
  Result<std::optional<EntryName>> next_candidate();
  Result<std::optional<Claim>> take(const EntryName& pending);  // nothing: it is gone, or was set aside
  FileSystem& disk_;
  Clock& clock_;
  QueueLayout layout_;
  std::string worker_id_;
  std::vector<EntryName> left_;  // of the last listing, the next one at the back
};

}  // namespace arena
