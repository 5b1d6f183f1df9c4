#pragma once
// Starts workers. One implementation per place they can run in; what is started is watched through a pidfd
// and never waited for. A launcher owns no worker: a coordinator may die and its workers go on.
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "os/process.h"

namespace arena {

struct WorkerOrder {
  std::string worker_id;  // slot.n, never used before
  std::string device;     // "cpu slot 0"
};

class WorkerLauncher {
 public:
  virtual ~WorkerLauncher() = default;
  // Makes the worker's lock file, then starts it. After an error no such worker exists and its lock file is
  // gone.
  virtual Result<LaunchedProcess> start(const WorkerOrder& order) = 0;
};

}  // namespace arena
