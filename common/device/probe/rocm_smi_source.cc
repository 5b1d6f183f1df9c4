#include <array>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "device/probe/rocm_smi_calls.h"
#include "device/probe/source.h"
#include "device/probe/sysfs.h"
#include "device/probe/vendor_library.h"

namespace arena {

namespace {

const std::vector<std::string>& library_names() {
  static const std::vector<std::string> names = {"librocm_smi64.so.7", "librocm_smi64.so.6",
                                                 "librocm_smi64.so.5", "librocm_smi64.so.1"};
  return names;
}

// Debug builds of the library (Debian's) obey these and would answer with invented devices.
void clear_debug_variables() {
  for (const char* name :
       {"RSMI_DEBUG_BITFIELD", "RSMI_DEBUG_DRM_ROOT_OVERRIDE", "RSMI_DEBUG_HWMON_ROOT_OVERRIDE",
        "RSMI_DEBUG_PP_ROOT_OVERRIDE", "RSMI_DEBUG_INFINITE_LOOP", "RSMI_DEBUG_ENV_VARS"}) {
    ::unsetenv(name);
  }
  for (char** entry = environ; *entry != nullptr;) {
    const std::string_view text = *entry;
    if (text.starts_with("RSMI_DEBUG_")) {
      ::unsetenv(std::string(text.substr(0, text.find('='))).c_str());
      entry = environ;  // the list has moved up
    } else {
      ++entry;
    }
  }
}

std::string explain(const VendorLibrary& library, rsmi::Status status) {
  const char* text = nullptr;
  if (call_if_there(library.find<rsmi::StatusString>("rsmi_status_string"), rsmi::kNotSupported, status,
                    &text) == rsmi::kSuccess &&
      text != nullptr) {
    return fmt::format("status {}: {}", status, trim(text));
  }
  return fmt::format("status {}", status);
}

// The same status stands for a machine without GPUs, one without a driver and a library that gave up: the
// kernel tells which.
void explain_failed_start(const VendorLibrary& library, rsmi::Status status, SourceReport& report) {
  const bool driver = has_amd_driver("/");
  bool card = false;
  for (const Device& device : read_sysfs_devices("/")) card = card || device.vendor == DeviceVendor::amd;
  if (status == rsmi::kPermission) {
    report.state = SourceState::no_permission;
    report.message = fmt::format("rocm_smi may not look at the GPUs ({})", explain(library, status));
  } else if (!card) {
    report.state = SourceState::no_device;
    report.message = driver ? "the amdgpu driver is loaded, but there is no AMD GPU" : "there is no AMD GPU";
  } else if (!driver) {
    report.state = SourceState::no_driver;
    report.message = "there is an AMD GPU, but the amdgpu driver is not loaded";
  } else {
    report.state = SourceState::failed;
    report.message = fmt::format(
        "rocm_smi could not start ({}); if a process that used it was killed, remove /dev/shm/rocm_smi_*",
        explain(library, status));
  }
}

template <class Value>
std::optional<Value> ask(const VendorLibrary& library, const char* function, std::uint32_t index) {
  Value value = 0;
  using Function = rsmi::Status(std::uint32_t, Value*);
  const auto status = call_if_there(library.find<Function>(function), rsmi::kNotSupported, index, &value);
  return status == rsmi::kSuccess ? std::optional<Value>(value) : std::nullopt;
}

// Domain in bits 32 to 63, partition in 28 to 31 (older libraries: in the function), then bus, device,
// function.
void take_address(std::uint64_t id, Device& device) {
  device.pci_address = {static_cast<std::uint32_t>(id >> 32), static_cast<std::uint8_t>(id >> 8 & 0xff),
                        static_cast<std::uint8_t>(id >> 3 & 0x1f), 0};
  const std::uint64_t high = id >> 28 & 0xf;
  device.partition = static_cast<std::int64_t>(high != 0 ? high : id & 7);
}

Device read_device(const VendorLibrary& library, std::uint32_t index) {
  Device device;
  device.vendor = DeviceVendor::amd;
  device.index = index;
  take_address(ask<std::uint64_t>(library, "rsmi_dev_pci_id_get", index).value_or(0), device);
  if (const auto id = ask<std::uint64_t>(library, "rsmi_dev_unique_id_get", index); id && *id != 0)
    device.unique_id = fmt::format("{:016x}", *id);
  std::array<char, 256> name{};
  if (call_if_there(library.find<rsmi::Name>("rsmi_dev_name_get"), rsmi::kNotSupported, index, name.data(),
                    name.size() - 1) == rsmi::kSuccess) {
    // Without a database of PCI names it answers with the number.
    if (!std::string_view(name.data()).starts_with("0x")) device.name = name.data();
  }
  return device;
}

void read_values(const VendorLibrary& library, std::uint32_t index, Device& device) {
  const auto memory = [&](const char* function) -> std::optional<std::uint64_t> {
    std::uint64_t bytes = 0;
    const auto status =
        call_if_there(library.find<rsmi::Memory>(function), rsmi::kNotSupported, index, rsmi::kVram, &bytes);
    return status == rsmi::kSuccess ? std::optional<std::uint64_t>(bytes) : std::nullopt;
  };
  device.memory_bytes = memory("rsmi_dev_memory_total_get");
  device.memory_used_bytes = memory("rsmi_dev_memory_usage_get");
  for (const std::uint32_t sensor : {rsmi::kEdge, rsmi::kJunction}) {
    std::int64_t millidegrees = 0;
    const auto status = call_if_there(library.find<rsmi::Temperature>("rsmi_dev_temp_metric_get"),
                                      rsmi::kNotSupported, index, sensor, rsmi::kCurrent, &millidegrees);
    if (status == rsmi::kSuccess && !device.temperature_c)
      device.temperature_c = static_cast<double>(millidegrees) * 1e-3;
  }
  std::uint64_t microwatts = 0;
  if (call_if_there(library.find<rsmi::Power>("rsmi_dev_power_ave_get"), rsmi::kNotSupported, index, 0U,
                    &microwatts) == rsmi::kSuccess) {
    device.power_w = static_cast<double>(microwatts) * 1e-6;
  }
  if (const auto busy = ask<std::uint32_t>(library, "rsmi_dev_busy_percent_get", index))
    device.use_percent = *busy;
  if (const auto node = ask<std::uint32_t>(library, "rsmi_topo_get_numa_node_number", index))
    device.numa_node = *node;
}

std::string version_of(const VendorLibrary& library) {
  rsmi::Version version{};
  if (call_if_there(library.find<rsmi::VersionGet>("rsmi_version_get"), rsmi::kNotSupported, &version) !=
      rsmi::kSuccess)
    return "";
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

std::string driver_version_of(const VendorLibrary& library) {
  std::array<char, 256> text{};
  if (call_if_there(library.find<rsmi::VersionString>("rsmi_version_str_get"), rsmi::kNotSupported,
                    rsmi::kDriver, text.data(), static_cast<std::uint32_t>(text.size())) != rsmi::kSuccess) {
    return "";
  }
  return std::string(trim(text.data()));
}

}  // namespace

SourceReport read_rocm_smi_source(const SourceSink& sink) {
  SourceReport report;
  report.kind = SourceKind::rocm_smi;
  clear_debug_variables();
  const auto library = VendorLibrary::open(library_names(), rocm_directories());
  if (!library) {
    report.state =
        library.error().code == ErrorCode::not_found ? SourceState::no_library : SourceState::failed;
    report.message = library.error().message;
    return report;
  }
  report.library = library->name();
  auto* const init = library->find<rsmi::Init>("rsmi_init");
  auto* const count_devices = library->find<rsmi::Count>("rsmi_num_monitor_devices");
  auto* const shut_down = library->find<rsmi::ShutDown>("rsmi_shut_down");
  if (init == nullptr || count_devices == nullptr || shut_down == nullptr) {
    report.message = fmt::format("{} lacks functions that every rocm_smi has", library->name());
    return report;
  }
  report.library_version = version_of(*library);
  sink.reading("rsmi_init", "");
  if (const rsmi::Status status = init(0); status != rsmi::kSuccess) {
    explain_failed_start(*library, status, report);
    return report;
  }
  report.driver_version = driver_version_of(*library);
  std::uint32_t count = 0;
  if (const rsmi::Status status = count_devices(&count); status != rsmi::kSuccess) {
    report.message = fmt::format("rocm_smi could not count its devices ({})", explain(*library, status));
    return report;
  }
  for (std::uint32_t index = 0; index < count; ++index) {
    Device device = read_device(*library, index);
    sink.found(device);
    if (!sink.reading("its values through rocm_smi", identity_of(device))) continue;
    read_values(*library, index, device);
    sink.found(device);
  }
  sink.reading("rsmi_shut_down", "");
  shut_down();  // releases the mutexes in /dev/shm that other users of the library wait for
  report.state = count > 0 ? SourceState::ok : SourceState::no_device;
  if (count == 0) report.message = "rocm_smi lists no GPU";
  return report;
}

}  // namespace arena
