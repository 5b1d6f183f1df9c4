#include "device/probe/nvml.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "device/probe/small_file.h"

namespace arena {

namespace {

// Bits of nvmlDeviceGetCurrentClocksThrottleReasons. Idle (1) and clocks set by the user (2, 0x100) hold
// nothing back.
constexpr std::array<std::pair<unsigned long long, std::string_view>, 6> kThrottleReasons = {
    {{0x4, "power cap"},
     {0x8, "hardware slowdown"},
     {0x10, "sync boost"},
     {0x20, "thermal"},
     {0x40, "hardware thermal"},
     {0x80, "power brake"}}};

constexpr unsigned long long kMemoryNotKnown = ~0ULL;

SourceState state_of(nvml::Status status) {
  if (status == nvml::kDriverNotLoaded) return SourceState::no_driver;
  if (status == nvml::kNoPermission) return SourceState::no_permission;
  return SourceState::failed;
}

}  // namespace

std::optional<Nvml> Nvml::start(SourceReport& report) {
  report.kind = SourceKind::nvml;
  auto library = VendorLibrary::open({"libnvidia-ml.so.1"}, nvidia_directories());
  if (!library) {
    report.state =
        library.error().code == ErrorCode::not_found ? SourceState::no_library : SourceState::failed;
    report.message = library.error().message;
    return std::nullopt;
  }
  report.library = library->name();
  Nvml nvml(std::move(*library));
  if (const nvml::Status status = nvml.call<nvml::Plain>("nvmlInit_v2"); status != nvml::kSuccess) {
    nvml.started_ = false;
    report.state = state_of(status);
    report.message = fmt::format("NVML could not start: {}", nvml.explain(status));
    return std::nullopt;
  }
  std::array<char, 128> version{};
  if (nvml.call<nvml::Text>("nvmlSystemGetNVMLVersion", version.data(), 128U) == nvml::kSuccess)
    report.library_version = version.data();
  if (nvml.call<nvml::Text>("nvmlSystemGetDriverVersion", version.data(), 128U) == nvml::kSuccess)
    report.driver_version = version.data();
  return nvml;
}

Nvml::~Nvml() {
  if (started_) call<nvml::Plain>("nvmlShutdown");
}

std::string Nvml::explain(nvml::Status status) const {
  auto* const error_text = library_.find<nvml::ErrorText>("nvmlErrorString");
  const char* const text = error_text != nullptr ? error_text(status) : nullptr;
  return fmt::format("{} (NVML status {})", text != nullptr ? text : "unknown error", status);
}

nvml::Status Nvml::count(unsigned& devices) const {
  return call<nvml::Number>("nvmlDeviceGetCount_v2", &devices);
}

nvml::Status Nvml::handle(unsigned index, nvml::Handle& handle) const {
  return call<nvml::GetHandle>("nvmlDeviceGetHandleByIndex_v2", index, &handle);
}

std::string Nvml::text(const char* function, nvml::Handle handle) const {
  std::array<char, 128> text{};
  return call<nvml::GetText>(function, handle, text.data(), 127U) == nvml::kSuccess ? text.data() : "";
}

std::optional<unsigned> Nvml::number(const char* function, nvml::Handle handle, int kind) const {
  unsigned value = 0;
  if (call<nvml::GetByKind>(function, handle, kind, &value) != nvml::kSuccess) return std::nullopt;
  return value;
}

std::optional<Device> Nvml::identify(nvml::Handle handle) const {
  nvml::PciInfo pci{};
  if (call<nvml::GetPciInfo>("nvmlDeviceGetPciInfo_v3", handle, &pci) != nvml::kSuccess) return std::nullopt;
  Device device;
  device.vendor = DeviceVendor::nvidia;
  device.pci_address = {pci.domain, static_cast<std::uint8_t>(pci.bus), static_cast<std::uint8_t>(pci.device),
                        0};
  device.unique_id = text("nvmlDeviceGetUUID", handle);
  device.name = text("nvmlDeviceGetName", handle);
  int major = 0;
  int minor = 0;
  if (call<nvml::GetCapability>("nvmlDeviceGetCudaComputeCapability", handle, &major, &minor) ==
      nvml::kSuccess)
    device.arch = fmt::format("sm_{}{}", major, minor);
  return device;
}

void Nvml::read_values(nvml::Handle handle, Device& device) const {
  nvml::Memory memory{};
  if (call<nvml::GetMemory>("nvmlDeviceGetMemoryInfo", handle, &memory) == nvml::kSuccess) {
    device.memory_bytes = memory.total;
    device.memory_used_bytes = memory.used;
  }
  device.temperature_c = number("nvmlDeviceGetTemperature", handle, nvml::kGpuTemperature);
  device.clock_mhz = number("nvmlDeviceGetClockInfo", handle, nvml::kSmClock);
  device.clock_max_mhz = number("nvmlDeviceGetMaxClockInfo", handle, nvml::kSmClock);
  unsigned milliwatts = 0;
  if (call<nvml::GetNumber>("nvmlDeviceGetPowerUsage", handle, &milliwatts) == nvml::kSuccess)
    device.power_w = milliwatts * 1e-3;
  nvml::Utilization utilization{};
  if (call<nvml::GetUtilization>("nvmlDeviceGetUtilizationRates", handle, &utilization) == nvml::kSuccess)
    device.use_percent = utilization.gpu;
  unsigned long long corrected = 0;
  unsigned long long uncorrected = 0;
  const char* const ecc = "nvmlDeviceGetTotalEccErrors";
  if (call<nvml::GetEcc>(ecc, handle, nvml::kCorrected, nvml::kSinceDriverLoad, &corrected) ==
          nvml::kSuccess &&
      call<nvml::GetEcc>(ecc, handle, nvml::kUncorrected, nvml::kSinceDriverLoad, &uncorrected) ==
          nvml::kSuccess) {
    device.ecc = EccCounts{corrected, uncorrected};
  }
  device.processes = processes(handle);
}

std::optional<std::vector<DeviceProcess>> Nvml::processes(nvml::Handle handle) const {
  std::vector<nvml::Process> entries(64);
  unsigned count = 0;
  nvml::Status status = nvml::kInsufficientSize;
  for (int attempt = 0; status == nvml::kInsufficientSize && attempt < 4;
       ++attempt) {  // they come and go meanwhile
    if (attempt > 0) entries.resize(entries.size() * 2 + count);
    count = static_cast<unsigned>(entries.size());
    status =
        call<nvml::GetProcesses>("nvmlDeviceGetComputeRunningProcesses_v3", handle, &count, entries.data());
  }
  if (status != nvml::kSuccess) return std::nullopt;
  std::vector<DeviceProcess> processes;
  for (unsigned i = 0; i < count; ++i) {
    const nvml::Process& entry = entries[i];
    processes.push_back(
        {entry.pid, read_small_file(fmt::format("/proc/{}/comm", entry.pid)).value_or(""),
         entry.memory == kMemoryNotKnown ? std::nullopt : std::optional<std::uint64_t>(entry.memory)});
  }
  return processes;
}

std::optional<std::vector<std::string>> Nvml::throttle(nvml::Handle handle) const {
  unsigned long long mask = 0;
  if (call<nvml::GetMask>("nvmlDeviceGetCurrentClocksThrottleReasons", handle, &mask) != nvml::kSuccess)
    return std::nullopt;
  std::vector<std::string> reasons;
  for (const auto& [bit, word] : kThrottleReasons) {
    if ((mask & bit) != 0) reasons.emplace_back(word);
  }
  return reasons;
}

std::optional<unsigned> Nvml::minor_number(nvml::Handle handle) const {
  unsigned value = 0;
  if (call<nvml::GetNumber>("nvmlDeviceGetMinorNumber", handle, &value) != nvml::kSuccess)
    return std::nullopt;
  return value;
}

bool Nvml::mig_is_on(nvml::Handle handle) const {
  unsigned current = 0;
  unsigned pending = 0;
  return call<nvml::GetTwoNumbers>("nvmlDeviceGetMigMode", handle, &current, &pending) == nvml::kSuccess &&
         current == 1;
}

}  // namespace arena
