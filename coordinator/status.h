#pragma once
// What a run's directory tells anybody who looks, with or without a live coordinator. Reads only.
#include <optional>
#include <string>
#include <vector>

#include "coordinator/progress.h"
#include "coordinator/run_directory.h"
#include "os/clock.h"
#include "os/file_system.h"
#include "queue/halt.h"

namespace arena {

struct FailedTask {
  std::string name;
  std::string cause;
  std::string message;
};

struct LiveWorker {
  std::string id;
  std::int64_t pid = 0;
  std::string device;
  WorkerActivity activity;
  std::optional<WallTime> last_output;
};

// A device whose last worker left because of it.
struct Quarantine {
  std::string device;
  std::string reason;
};

struct RunStatus {
  fs::path run_directory;
  RunRecord record;
  bool has_queue = false;  // not yet when its coordinator died while building it
  QueueCounts counts;
  std::int64_t corrupt = 0;
  std::vector<FailedTask> failed;
  std::vector<LiveWorker> workers;
  std::vector<Quarantine> quarantined;
  bool coordinator = false;
  std::optional<Halt> halt;
  bool is_over() const { return !coordinator && workers.empty(); }
};

Result<RunStatus> read_status(FileSystem& disk, const fs::path& run_directory);
// "running", "stopped", "all done", … : one phrase.
std::string state_phrase(const RunStatus& status);
std::vector<std::string> status_lines(const RunStatus& status, WallTime now);
std::string status_json(const RunStatus& status);  // one line

}  // namespace arena
