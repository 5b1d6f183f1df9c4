#include <fmt/format.h>

#include "device/probe/device_node.h"
#include "device/probe/nvml.h"
#include "device/probe/source.h"

namespace arena {

namespace {

// NVML answers although the device node may not be opened; CUDA would not.
void look_at_access(const Nvml& nvml, nvml::Handle handle, Device& device) {
  const auto minor = nvml.minor_number(handle);
  if (!minor) return;
  const DeviceNode node = look_at_device_node("/", fmt::format("/dev/nvidia{}", *minor));
  if (node.error != 0) device.reason = node.message;
}

}  // namespace

SourceReport read_nvml_source(const SourceSink& sink) {
  SourceReport report;
  report.kind = SourceKind::nvml;
  sink.reading("nvmlInit", "");
  const std::optional<Nvml> nvml = Nvml::start(report);
  if (!nvml) return report;
  unsigned count = 0;
  if (const nvml::Status status = nvml->count(count); status != nvml::kSuccess) {
    report.message = fmt::format("NVML could not count its devices: {}", nvml->explain(status));
    return report;
  }
  for (unsigned index = 0; index < count; ++index) {
    nvml::Handle handle = nullptr;
    const nvml::Status status = nvml->handle(index, handle);
    std::optional<Device> device = status == nvml::kSuccess ? nvml->identify(handle) : std::nullopt;
    if (!device) {
      report.message += fmt::format("{}device {} does not answer: {}", report.message.empty() ? "" : "; ",
                                    index, nvml->explain(status));
      continue;
    }
    device->index = index;
    look_at_access(*nvml, handle, *device);
    if (nvml->mig_is_on(handle)) device->partition_mode = "MIG";
    sink.found(*device);
    if (!sink.reading("its values through NVML", identity_of(*device))) continue;
    nvml->read_values(handle, *device);
    sink.found(*device);
  }
  report.state = count > 0 ? SourceState::ok : SourceState::no_device;
  if (count == 0) report.message = "NVML lists no GPU";
  return report;
}

}  // namespace arena
