#pragma once
// The queue of one run: directories whose entries move by rename. TaskQueue is the worker's side (claim, finish, hand back),
// free functions below are the coordinator's (build, recover). What each step withstands is argued in docs/queue.md.
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/event.h"
#include "model/task_descriptor.h"
#include "os/clock.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"

namespace arena {

struct Claim {
  EntryName name;              // as it stands in running/
  TaskDescriptor descriptor;   // attempt already counted
};

// Why a claim gave nothing.
enum class NoClaim { empty, halted };

// One worker's view. Lists pending/ once in plan order, skips what others took, lists again only when exhausted, and says
// empty only after that second look. Single-threaded; owns nothing on disk but the entries it claimed.
class TaskQueue {
 public:
  TaskQueue(FileSystem& disk, Clock& clock, QueueLayout layout, std::string worker_id);

  // The next task, owned by this worker, its descriptor rewritten in running/ with attempt + 1. An entry that cannot be read
  // goes to corrupt/ and the search goes on. An error stops the worker loudly (disk full, permission).
  Result<tl::expected<Claim, NoClaim>> claim();

  // running/ -> done/ or failed/ with `descriptor` as its last state, synced. not_found: the task was given away meanwhile;
  // the caller drops its result and leaves.
  Status finish(const Claim& claim, TaskDescriptor descriptor, QueueState target);
  // running/ -> pending/, a bare rename after the cause was written into the descriptor.
  Status hand_back(const Claim& claim, TaskDescriptor descriptor);

 private:
  Result<std::optional<EntryName>> next_candidate();
  FileSystem& disk_;
  Clock& clock_;
  QueueLayout layout_;
  std::string worker_id_;
  std::deque<std::string> names_;  // left of the last listing, plan order
  bool fresh_listing_ = false;
};

// --- Halting: a file that stops every further claim of the run (or of one worker) and says why ---
struct Halt {
  std::string by;       // coordinator, user, worker id
  std::string cause;    // drain, quota, no_space, failures, stop
  std::string message;
};
Status request_halt(FileSystem& disk, const fs::path& halt_file, const Halt& halt);  // an earlier halt stays
Result<std::optional<Halt>> read_halt(FileSystem& disk, const fs::path& halt_file);
Status clear_halt(FileSystem& disk, const fs::path& halt_file);

// --- The coordinator's side; the caller holds coordinator.lock ---

// Builds .parallel.new/ with every descriptor in pending/, syncs it, renames it into place.
Status build_queue(FileSystem& disk, const QueueLayout& layout, const std::vector<TaskDescriptor>& descriptors);
// Adds tasks to a queue that exists (resume with more tasks).
Status enqueue(FileSystem& disk, const QueueLayout& layout, const TaskDescriptor& descriptor);

// What a listing of the four directories shows.
struct QueueSnapshot {
  std::map<QueueState, std::vector<EntryName>> entries;  // each sorted by index
  std::vector<std::pair<QueueState, std::string>> foreign;  // names that are not ours
  std::size_t count(QueueState state) const;
};
Result<QueueSnapshot> take_snapshot(FileSystem& disk, const QueueLayout& layout);

// What recovery knows about one entry in running/.
struct RunningEntry {
  EntryName name;
  std::optional<TaskDescriptor> descriptor;  // nothing: unreadable
  bool owner_alive = false;
  bool has_result = false;                   // a whole result of exactly this attempt
};
struct RecoveryLimits {
  std::int64_t max_attempts = 3;
};
struct RecoveryStep {
  enum class Action {
    keep,        // owner alive: leave it
    to_done,     // the result is there, only the move is missing
    to_pending,  // owner dead, attempts left
    to_failed,   // owner dead, none left
    to_corrupt,  // unreadable: set aside, regenerate from the plan
  };
  EntryName name;
  Action action = Action::keep;
};
// Pure: the same entries always give the same steps. An entry also present in pending/, done/ or failed/ (same index) is not
// touched but reported by check_snapshot.
std::vector<RecoveryStep> plan_recovery(const std::vector<RunningEntry>& running, const RecoveryLimits& limits);

// Looks at running/ (reading descriptors and results), plans, and performs each step. `owner_alive` is asked once per worker id.
struct RecoveryReport {
  std::vector<std::pair<EntryName, RecoveryStep::Action>> steps;
  std::vector<std::string> warnings;
};
Result<RecoveryReport> recover(FileSystem& disk, Clock& clock, const QueueLayout& layout, const RecoveryLimits& limits,
                               const std::string& run_id, const std::function<bool(const std::string& worker_id)>& owner_alive);

// failed/ -> pending/ with a fresh attempt budget (retry, --retry-failed). Also done/ -> pending/ for `retry RUN TASK`.
Status requeue_finished(FileSystem& disk, const QueueLayout& layout, QueueState from, const EntryName& name);

// Every planned task in exactly one state; entries of corrupt/ or lost ones that must be regenerated; duplicates.
struct QueueCheck {
  std::vector<std::int64_t> missing;     // planned, in no state: to be enqueued again
  std::vector<std::string> duplicates;   // in more than one state: named, never resolved silently
};
QueueCheck check_snapshot(const QueueSnapshot& snapshot, const std::vector<std::int64_t>& planned_indexes);

// Appends to this writer's ledger; a failed write is an error like any other (disk full must be seen).
Status append_event(FileSystem& disk, const QueueLayout& layout, const Event& event);

}  // namespace arena
