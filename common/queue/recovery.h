#pragma once
// What becomes of entries in running/ whose worker is dead. The caller holds coordinator.lock.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/task_descriptor.h"
#include "os/clock.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"

namespace arena {

// What recovery knows about one entry in running/.
struct RunningEntry {
  EntryName name;
  std::optional<TaskDescriptor> descriptor;  // nothing: unreadable, and why
  std::string problem;
  bool owner_alive = false;
  bool has_result = false;  // a whole result of exactly the descriptor's attempt
};

struct RecoveryLimits {
  std::int64_t max_attempts = 3;  // quota and cancelled attempts do not count
};

struct RecoveryStep {
  enum class Action {
    keep,        // owner alive: leave it
    to_done,     // the result is there, only the move is missing
    to_pending,  // owner dead, attempts left
    to_failed,   // owner dead, none left; or it had already written that the task failed
    to_corrupt,  // unreadable: set aside, to be regenerated from the plan
  };
  EntryName name;
  Action action = Action::keep;
};

// Pure: the same entries always give the same steps, one for each entry, in their order.
std::vector<RecoveryStep> plan_recovery(const std::vector<RunningEntry>& running,
                                        const RecoveryLimits& limits);

// One place of a task that is in several: a power loss kept only a part of a rename, or a person was at work.
struct TaskCopy {
  QueueState state = QueueState::pending;
  EntryName name;
  std::optional<TaskDescriptor> descriptor;  // nothing: unreadable
  bool owner_alive = false;                  // of one in running/
};

// Pure: which of the copies is the latest, so that the other readable ones are leftovers; nothing where that
// is not certain. Attempts only grow; of one attempt its end is the latest, then being pending again.
std::optional<std::size_t> latest_copy(const std::vector<TaskCopy>& copies);

struct RecoveryReport {
  std::vector<std::pair<EntryName, RecoveryStep::Action>> steps;  // those performed, keep included
  std::vector<std::string> warnings;                              // foreign names, duplicates
};

// Looks at running/ (descriptors and results), plans, performs each step and writes it to the coordinator's
// ledger; removes the temporary files of dead writers. `owner_alive` is asked once per worker id. A task in
// more than one place is always reported; leftovers of the latest copy are removed, and where that is not
// certain everything is left alone. After a crash at any point, or an error, call it again: the end state is
// the same.
Result<RecoveryReport> recover(FileSystem& disk, Clock& clock, const QueueLayout& layout,
                               const RecoveryLimits& limits, const std::string& run_id,
                               const std::function<bool(const std::string& worker_id)>& owner_alive);

}  // namespace arena
