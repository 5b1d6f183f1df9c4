#pragma once
// The loop of a running coordinator: one thread, one Asio loop over the workers' pidfds, signals, timers and
// inotify; it sleeps until one of them speaks. Decisions are supervision.h's; this performs them. It holds no
// state that the queue does not show: killed at any moment, a resume finds everything on disk. The caller
// holds coordinator.lock throughout.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/console.h"
#include "coordinator/options.h"
#include "coordinator/progress.h"
#include "coordinator/run_log.h"
#include "coordinator/worker_launcher.h"
#include "coordinator/worker_roster.h"
#include "model/run_record.h"
#include "os/clock.h"
#include "os/file_system.h"
#include "queue/event_ledger.h"
#include "queue/halt.h"
#include "queue/queue_layout.h"
#include "queue/queue_snapshot.h"
#include "queue/recovery.h"

namespace arena {

// A live worker of an earlier coordinator.
struct AdoptedWorker {
  WorkerId id;
  LaunchedProcess process;
  bool drains = false;  // its slot is not wanted any more
};

struct SupervisorOrder {
  QueueLayout layout;
  std::string run_id;
  RecoveryLimits limits;
  std::vector<std::string> devices;                        // one per slot
  std::map<std::int64_t, std::int64_t> used_incarnations;  // by slot
  std::vector<AdoptedWorker> adopted;
  std::optional<HaltPolicy> halt;
  QueueSnapshot snapshot;
  bool json = false;  // events as JSON lines
};

struct SupervisorOutcome {
  int signal = 0;                     // SIGINT or SIGTERM if one ended the run
  std::optional<Halt> halt;           // why no further task was claimed, if something stopped claims
  std::vector<std::string> problems;  // slots given up, recoveries that failed
};

// An error only when the loop could not be set up; workers are then not started.
Result<SupervisorOutcome> supervise(SupervisorOrder order, FileSystem& disk, Clock& clock,
                                    WorkerLauncher& launcher, Console& console, RunLog& log);

}  // namespace arena
