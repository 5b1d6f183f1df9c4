#pragma once
// Who works, or worked, on a run, as workers/ tells it. A worker whose end has been dealt with (nothing of it
// alive, its entries recovered) has no lock file any more; every other one is open. Only the holder of
// coordinator.lock retires workers.
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/worker_record.h"
#include "os/file_system.h"
#include "os/process.h"
#include "queue/queue_layout.h"
#include "queue/queue_snapshot.h"

namespace arena {

struct OpenWorker {
  WorkerId id;
  std::optional<WorkerRecord> record;      // nothing: it never wrote one, or it cannot be read
  std::optional<LaunchedProcess> process;  // alive, as far as its record tells
  std::string elsewhere;  // set: it belongs to this other host, and nothing is known about it
};

Result<std::vector<OpenWorker>> list_open_workers(FileSystem& disk, const QueueLayout& layout);

// Highest incarnation ever used per slot, from workers/ and from the entries that carry worker ids.
Result<std::map<std::int64_t, std::int64_t>> used_incarnations(FileSystem& disk, const QueueLayout& layout,
                                                               const QueueSnapshot& snapshot);

// TERM to all, KILL to those alive after `grace`. Returns when all are gone; an error names the pid that
// would not go.
Status end_processes(const std::vector<const LaunchedProcess*>& processes, std::chrono::milliseconds grace);

// The worker's own process is gone (or was never there): kills whatever carries its mark, so that nothing of
// it works on. The number of processes killed.
Result<int> sweep_worker(const std::string& run_id, const std::string& worker_id);

// Swept and recovered: its lock and halt files go, so that a late worker of that id finds none and leaves.
Status retire_worker(FileSystem& disk, const QueueLayout& layout, const std::string& worker_id);

// A worker without a record: still starting, or its coordinator died before starting it. Takes its lock
// (ending the process that holds it, which has claimed nothing) and retires it.
Status retire_unknown_worker(FileSystem& disk, const QueueLayout& layout, const std::string& run_id,
                             const std::string& worker_id);

}  // namespace arena
