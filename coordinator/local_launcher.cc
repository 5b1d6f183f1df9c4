#include "coordinator/local_launcher.h"

#include <fmt/format.h>

#include "base/step.h"
#include "device/device.h"
#include "os/environment.h"

namespace arena {

LaunchSpec local_launch_spec(const QueueLayout& layout, const LocalLaunch& settings, const WorkerOrder& order,
                             const EnvironmentMap& environment) {
  LaunchSpec spec;
  const fs::path log =
      settings.log_directory / fmt::format("{}_worker{}.log", settings.log_name_start, order.worker_id);
  spec.argv = {settings.worker_program.string(),
               "--run-dir",
               layout.run_directory().string(),
               "--worker-id",
               order.worker_id,
               "--device",
               order.device,
               "--launcher",
               "local",
               "--data-dir",
               settings.data_directory.string(),
               "--cache-dir",
               settings.cache_directory.string(),
               "--log-file",
               log.string()};
  if (!settings.probe_program.empty()) {
    spec.argv.insert(spec.argv.end(), {"--probe", settings.probe_program.string()});
  }
  if (settings.wait_for_gpu) spec.argv.emplace_back("--wait-for-gpu");
  if (const auto home = environment.find("HOME"); home != environment.end() && !home->second.empty())
    spec.argv.insert(spec.argv.end(), {"--user-home", home->second});
  if (settings.verbose) spec.argv.push_back("-v");
  std::vector<std::string> names = basic_environment_names();
  const std::vector<std::string>& devices = device_environment_names();
  names.insert(names.end(), devices.begin(), devices.end());
  names.emplace_back("ARENA_LOCK_DIR");
  names.insert(names.end(), settings.environment_names.begin(), settings.environment_names.end());
  spec.environment = select_environment(environment, names);
  spec.environment["ARENA_RUN_ID"] = settings.run_id;
  spec.environment["ARENA_WORKER"] = settings.run_id + "/" + order.worker_id;
  spec.working_directory = layout.run_directory();
  spec.output_file = layout.worker_log(order.worker_id);
  spec.new_session = true;
  // CUDA does not start in a PID namespace that /proc is not of, and a /proc of its own would hide the
  // worker's pid from it. Without the namespace it is child subreaper, which its results say.
  spec.new_pid_namespace = is_cpu_slot(order.device);
  return spec;
}

Result<LaunchedProcess> LocalLauncher::start(const WorkerOrder& order) {
  const fs::path lock = layout_.worker_lock(order.worker_id);
  ARENA_TRY(disk_.create(lock, "", Sync::no));
  step("launch.locked");
  auto process = launch(local_launch_spec(layout_, settings_, order, current_environment()));
  if (!process) {
    static_cast<void>(disk_.remove(lock));
    return fail(process.error());
  }
  step("launch.started");
  return process;
}

}  // namespace arena
