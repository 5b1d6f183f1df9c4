#include "device/probe/source.h"
#include "device/probe/sysfs.h"

namespace arena {

SourceReport read_sysfs_source(const SourceSink& sink) {
  SourceReport report;
  report.kind = SourceKind::sysfs;
  sink.reading("the devices in /sys", "");
  std::vector<Device> devices = read_sysfs_devices("/");
  for (const Device& device : devices) sink.found(device);
  for (Device& device : devices) {
    if (!sink.reading("its values in /sys", identity_of(device))) continue;
    read_sysfs_values("/", device);
    sink.found(device);
  }
  report.state = devices.empty() ? SourceState::no_device : SourceState::ok;
  if (devices.empty()) report.message = "no AMD or NVIDIA GPU is on the PCI bus";
  report.driver_version = amd_driver_version("/");
  return report;
}

}  // namespace arena
