#include <sys/statvfs.h>
#include <unistd.h>

#include <fmt/format.h>
#include <poll.h>
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "coordinator/commands.h"
#include "device/device_probe.h"
#include "device/device_selection.h"
#include "device/inventory.h"
#include "os/environment.h"
#include "os/process.h"

namespace arena {

namespace {

constexpr std::uint64_t kLeastFreeBytes = std::uint64_t{5} << 30;

// One line of the table. `need` says what it is for, `mend` how to get it.
struct Finding {
  enum class State {
    ok,
    missing,
    limited
  } state = State::ok;  // limited: runs work without it, something else does not
  std::string what;
  std::string detail;
  std::string mend;
};

std::string_view name_of(Finding::State state) {
  switch (state) {
    case Finding::State::ok:
      return "ok";
    case Finding::State::missing:
      return "missing";
    case Finding::State::limited:
      return "limited";
  }
  ARENA_ASSERT(false);
}

Finding look_for_program(const std::string& program, const std::string& purpose, const std::string& mend,
                         Finding::State otherwise) {
  const char* const path = std::getenv("PATH");
  const fs::path found = find_program(program, path == nullptr ? "" : path);
  if (!found.empty()) return {Finding::State::ok, program, found.string(), ""};
  return {otherwise, program, "not found: " + purpose, mend};
}

Finding look_for_file(const fs::path& file, const std::string& what) {
  boost::system::error_code error;
  if (fs::exists(file, error)) return {Finding::State::ok, what, file.string(), ""};
  return {Finding::State::missing, what, fmt::format("'{}' does not exist", file.string()),
          "build or install the whole project"};
}

// Tried for real: what the kernel allows depends on sysctls, containers and security modules.
Finding try_pid_namespace() {
  LaunchSpec spec;
  spec.argv = {"/bin/true"};
  spec.environment = select_environment(current_environment(), basic_environment_names());
  spec.working_directory = "/";
  spec.output_file = "/dev/null";
  spec.new_pid_namespace = true;
  const auto process = launch(spec);
  const std::string what = "PID namespaces";
  if (!process) return {Finding::State::limited, what, process.error().message, ""};
  pollfd watched{process->pidfd(), POLLIN, 0};
  ::poll(&watched, 1, 5000);
  process->reap();
  if (process->pid_namespace())
    return {Finding::State::ok, what, "a killed worker takes all its processes with it", ""};
  return {Finding::State::limited, what, "not allowed here: workers sweep their processes instead",
          "sysctl -w kernel.unprivileged_userns_clone=1, or run as root"};
}

Finding look_at_space(const fs::path& directory) {
  struct statvfs status {};
  const std::string what = "disk space";
  if (::statvfs(directory.c_str(), &status) != 0) {
    return {Finding::State::missing, what, error_from_errno(errno, "look at", directory.string()).message,
            "give --workspace-root"};
  }
  const std::uint64_t bytes = std::uint64_t{status.f_bavail} * status.f_frsize;
  const std::string detail = fmt::format("{:.1f} GB free at {}", static_cast<double>(bytes) / (1 << 30),
                                         fs::absolute(directory).string());
  if (bytes >= kLeastFreeBytes) return {Finding::State::ok, what, detail, ""};
  return {Finding::State::limited, what, detail, "arena-coord clean removes old runs"};
}

Finding look_at_file_system(const fs::path& directory) {
  const std::string network = network_file_system_name(directory);
  if (network.empty()) return {Finding::State::ok, "file system", "local", ""};
  return {Finding::State::limited, "file system",
          fmt::format("{}: slow, and its locks depend on the server", network),
          "give --workspace-root on a local disk"};
}

Finding look_for_gpus(const fs::path& probe) {
  const std::string what = "GPUs";
  const auto report = probe_devices(probe, current_environment());
  if (!report) return {Finding::State::limited, what, report.error().message, ""};
  const Inventory inventory = join(*report);
  if (inventory.devices.empty())
    return {Finding::State::limited, what, "none: " + inventory.why_none, "runs on CPU slots need none"};
  const auto usable = select_all_usable(inventory.devices).devices.size();
  const std::string detail = fmt::format("{} of {} usable", usable, inventory.devices.size());
  const bool all = usable == inventory.devices.size() && inventory.complete;
  return {all ? Finding::State::ok : Finding::State::limited, what, detail, "arena-coord gpus says why not"};
}

std::vector<Finding> examine(const Options& options, const World& world) {
  using State = Finding::State;
  return {
      look_for_file(world.paths.worker, "arena-worker"),
      look_for_file(world.paths.probe, "arena-probe"),
      look_for_file(world.paths.data / "tasks", "tasks"),
      look_for_file(world.paths.data / "agents", "agents"),
      look_for_program("sh", "task commands are shell lines", "apt install dash", State::missing),
      look_for_program("g++", "cpp2cpp tasks compile with it", "apt install g++", State::missing),
      look_for_program("git", "tasks of type repository are cloned with it", "apt install git",
                       State::limited),
      look_for_program("python3", "many task harnesses are Python", "apt install python3", State::limited),
      look_for_program("hipcc", "HIP tasks compile with it", "install ROCm: https://rocm.docs.amd.com",
                       State::limited),
      look_for_program("docker", "workers in containers", "apt install docker.io", State::limited),
      look_for_program("podman", "workers in containers without a daemon", "apt install podman",
                       State::limited),
      look_for_gpus(world.paths.probe),
      try_pid_namespace(),
      look_at_space(options.workspace_root),
      look_at_file_system(options.workspace_root),
  };
}

}  // namespace

int examine_machine(const Options& options, World& world) {
  const std::vector<Finding> findings = examine(options, world);
  if (options.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Finding& finding : findings) {
      json.push_back({{"what", finding.what},
                      {"state", name_of(finding.state)},
                      {"detail", finding.detail},
                      {"mend", finding.mend}});
    }
    world.console.result(json.dump());
  } else {
    for (const Finding& finding : findings) {
      world.console.result(
          fmt::format("{:<8} {:<15} {}", name_of(finding.state), finding.what, finding.detail));
      if (finding.state != Finding::State::ok && !finding.mend.empty())
        world.console.result(fmt::format("{:24} -> {}", "", finding.mend));
    }
  }
  const bool complete = std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.state == Finding::State::missing;
  });
  if (!options.json) {
    world.console.result(complete
                             ? "runs on CPU slots work here; what is limited matters only for what it names"
                             : "what is missing is needed before a run can work");
  }
  return complete ? kAllDone : kUnfinished;
}

}  // namespace arena
