#include "device/probe/sample.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "device/probe/gpu_metrics.h"
#include "device/probe/nvml.h"
#include "device/probe/small_file.h"
#include "device/probe/sysfs.h"
#include "device/telemetry.h"

namespace arena {

namespace {

using Steady = std::chrono::steady_clock;
using Reader = std::function<TelemetrySample()>;

TelemetrySample sample_of(const Device& device, std::optional<std::vector<std::string>> throttle) {
  TelemetrySample sample;
  sample.steady = std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now().time_since_epoch());
  sample.clock_mhz = device.clock_mhz;
  sample.power_w = device.power_w;
  sample.temperature_c = device.temperature_c;
  sample.throttle = std::move(throttle);
  return sample;
}

Result<Reader> amd_reader(const PciAddress& address) {
  const fs::path directory = fs::path("/sys/bus/pci/devices") / to_string(address);
  boost::system::error_code error;
  if (!fs::exists(directory, error))
    return fail(ErrorCode::not_found, fmt::format("cannot sample {}: no such device", to_string(address)));
  return Reader([address, directory] {
    Device device;
    device.vendor = DeviceVendor::amd;
    device.pci_address = address;
    read_sysfs_values("/", device);
    return sample_of(device, parse_throttle_reasons(read_small_file(directory / "gpu_metrics").value_or("")));
  });
}

Result<Reader> nvidia_reader(const PciAddress& address) {
  SourceReport report;
  auto nvml = Nvml::start(report);
  if (!nvml)
    return fail(ErrorCode::unsupported,
                fmt::format("cannot sample {}: {}", to_string(address), report.message));
  unsigned count = 0;
  nvml->count(count);
  for (unsigned index = 0; index < count; ++index) {
    nvml::Handle handle = nullptr;
    if (nvml->handle(index, handle) != nvml::kSuccess) continue;
    const auto device = nvml->identify(handle);
    if (!device || device->pci_address != address) continue;
    // std::function wants something it can copy.
    return Reader([shared = std::make_shared<Nvml>(std::move(*nvml)), handle] {
      Device now;
      shared->read_values(handle, now);
      return sample_of(now, shared->throttle(handle));
    });
  }
  return fail(ErrorCode::not_found,
              fmt::format("cannot sample {}: NVML does not list it", to_string(address)));
}

bool write_line(std::string line) {
  line += '\n';
  ssize_t written = 0;
  do {
    written = ::write(STDOUT_FILENO, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  return written == static_cast<ssize_t>(line.size());
}

bool input_is_pipe() {
  struct stat status {};
  return ::fstat(STDIN_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

}  // namespace

Status stream_telemetry(DeviceVendor vendor, const PciAddress& address, std::chrono::milliseconds period) {
  ARENA_ASSIGN(const Reader read, vendor == DeviceVendor::amd ? amd_reader(address) : nvidia_reader(address));
  const pid_t parent = ::getppid();
  pollfd input{input_is_pipe() ? STDIN_FILENO : -1, POLLIN, 0};
  for (Steady::time_point next = Steady::now();;) {
    if (!write_line(to_json_line(read()))) return {};  // nobody reads any more
    next += period;
    if (next < Steady::now()) next = Steady::now();  // a slow driver: no burst afterwards
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - Steady::now());
    if (::poll(&input, 1, static_cast<int>(std::max<std::int64_t>(wait.count(), 0))) > 0) {
      char byte = 0;
      if (::read(STDIN_FILENO, &byte, 1) <= 0) return {};
    }
    if (::getppid() != parent) return {};
  }
}

}  // namespace arena
