#pragma once
// Workers as processes of this machine: own session, own PID namespace where the system allows it, an
// environment built from an allow-list, output to workers/<id>.log.
#include "coordinator/worker_launcher.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"

namespace arena {

struct LocalLaunch {
  fs::path worker_program;  // absolute
  fs::path probe_program;   // arena-probe; empty: beside the worker
  bool wait_for_gpu = false;
  fs::path data_directory;     // agents/, prompts/
  fs::path cache_directory;    // clones of repository tasks
  fs::path log_directory;      // worker<ID>.log files, v0.2's names
  std::string log_name_start;  // <gpu>_<agent>_<timestamp>[_suffix]
  std::string run_id;
  std::vector<std::string> environment_names;  // handed through besides the basic ones: what the agent needs
  bool verbose = false;
};

class LocalLauncher final : public WorkerLauncher {
 public:
  LocalLauncher(FileSystem& disk, QueueLayout layout, LocalLaunch settings)
      : disk_(disk), layout_(std::move(layout)), settings_(std::move(settings)) {}
  Result<LaunchedProcess> start(const WorkerOrder& order) override;

 private:
  FileSystem& disk_;
  QueueLayout layout_;
  LocalLaunch settings_;
};

// Pure: what is started for this order.
LaunchSpec local_launch_spec(const QueueLayout& layout, const LocalLaunch& settings, const WorkerOrder& order,
                             const EnvironmentMap& environment);

}  // namespace arena
