#include "device/device_health.h"

#include <fmt/format.h>

namespace arena {

namespace {

// A clock that stays near its floor although the device is fully busy in both readings.
constexpr double kBusyPercent = 90;
constexpr double kStuckShare = 0.25;

std::string format_bytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (std::uint64_t{1} << 30));
}

std::string describe_process(const DeviceProcess& process) {
  std::string text = fmt::format("process {}", process.pid);
  if (!process.name.empty()) text += fmt::format(" ({})", process.name);
  if (process.memory_bytes) text += fmt::format(" with {}", format_bytes(*process.memory_bytes));
  return text;
}

const DeviceProcess* find_foreign(const Device& device, const std::set<std::int64_t>& own) {
  if (!device.processes) return nullptr;
  for (const DeviceProcess& process : *device.processes) {
    if (!own.contains(process.pid)) return &process;
  }
  return nullptr;
}

// Memory in use that no process holds: the driver did not get it back from one that died. Not told where the
// processes are not known.
std::uint64_t stranded_bytes(const Device& device) {
  if (!device.processes || !device.memory_used_bytes || device.integrated) return 0;
  std::uint64_t held = kIdleMemoryBytes;
  for (const DeviceProcess& process : *device.processes) held += process.memory_bytes.value_or(0);
  return *device.memory_used_bytes > held ? *device.memory_used_bytes : 0;
}

std::string describe_stranded(std::uint64_t bytes) {
  return fmt::format("stranded memory: {} are in use and no process holds them; reset the GPU",
                     format_bytes(bytes));
}

std::string access_problem(const ProbeReport& report, const Device& device) {
  if (!device.hung.empty()) return fmt::format("hung: reading {} does not return", device.hung);
  if (device.vendor == DeviceVendor::amd) {
    if (device.driver != "amdgpu") {
      return device.driver.empty()
                 ? "no driver: the amdgpu module does not drive it"
                 : fmt::format("no driver: it belongs to '{}', not to amdgpu", device.driver);
    }
    if (report.kfd.state != KfdAccess::State::ok) return report.kfd.message;
  }
  if (!device.reason.empty()) return device.reason;
  if (device.vendor == DeviceVendor::nvidia) {
    const SourceReport* const nvml = report.find(SourceKind::nvml);
    if (device.unique_id.empty())
      return nvml == nullptr || nvml->message.empty() ? "NVML does not list it" : nvml->message;
    if (device.partition_mode == "MIG") return "MIG is on; arena uses whole NVIDIA GPUs only";
  }
  return "";
}

}  // namespace

void judge_usability(const ProbeReport& report, Device& device) {
  device.usability = Usability::unusable;
  device.reason = access_problem(report, device);
  if (!device.reason.empty()) return;
  if (const DeviceProcess* const process = find_foreign(device, {})) {
    device.reason = "in use by " + describe_process(*process);
  } else if (const std::uint64_t stranded = stranded_bytes(device); stranded > 0) {
    device.reason = describe_stranded(stranded);
  } else if (device.integrated) {
    device.usability = Usability::by_name_only;
    device.reason = "integrated GPU: only used when --gpu-ids names it";
  } else {
    device.usability = Usability::usable;
  }
}

std::vector<Sickness> find_sickness(const Device& before, const std::optional<Device>& now,
                                    const std::set<std::int64_t>& own) {
  if (!now) return {{SicknessKind::lost, fmt::format("{} is gone from the bus", describe(before))}};
  std::vector<Sickness> found;
  const auto add = [&](SicknessKind kind, const std::string& why) {
    found.push_back({kind, fmt::format("{}: {}", describe(*now), why)});
  };
  if (!now->hung.empty()) add(SicknessKind::hung, fmt::format("reading {} does not return", now->hung));
  if (before.hip_index && !now->hip_index)
    add(SicknessKind::no_access, now->reason.empty() ? "HIP will not see it any more" : now->reason);
  if (const DeviceProcess* const process = find_foreign(*now, own))
    add(SicknessKind::foreign_process, describe_process(*process) + " uses it too");
  if (const std::uint64_t stranded = stranded_bytes(*now); stranded > 0)
    add(SicknessKind::stranded_memory, describe_stranded(stranded));
  if (before.ecc && now->ecc && now->ecc->uncorrectable > before.ecc->uncorrectable) {
    add(SicknessKind::ecc_errors, fmt::format("uncorrectable ECC errors grew from {} to {}",
                                              before.ecc->uncorrectable, now->ecc->uncorrectable));
  }
  const auto stuck = [](const Device& device) {
    return device.use_percent.value_or(0) >= kBusyPercent && device.clock_mhz && device.clock_max_mhz &&
           *device.clock_mhz < kStuckShare * *device.clock_max_mhz;
  };
  if (stuck(before) && stuck(*now)) {
    add(SicknessKind::clock_stuck, fmt::format("its clock stays at {:.0f} of {:.0f} MHz although it is busy",
                                               *now->clock_mhz, *now->clock_max_mhz));
  }
  return found;
}

std::string_view name_of(SicknessKind kind) {
  switch (kind) {
    case SicknessKind::lost:
      return "lost";
    case SicknessKind::hung:
      return "hung";
    case SicknessKind::no_access:
      return "no_access";
    case SicknessKind::foreign_process:
      return "foreign_process";
    case SicknessKind::stranded_memory:
      return "stranded_memory";
    case SicknessKind::ecc_errors:
      return "ecc_errors";
    case SicknessKind::clock_stuck:
      return "clock_stuck";
  }
  ARENA_ASSERT(false);
}

}  // namespace arena
