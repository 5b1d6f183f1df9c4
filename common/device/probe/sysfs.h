#pragma once
// What the kernel shows of GPUs, without any vendor's library: PCI devices, DRM render nodes, KFD nodes,
// hwmon. Identity is read apart from values, because only values ask the card itself and can hang.
#include <vector>

#include "base/path.h"
#include "device/device.h"
#include "device/probe_report.h"

namespace arena {

// Every AMD and NVIDIA GPU, one per partition, with its identity and, in `reason`, why this process could not
// open it. `root` is "/", or a directory with sys/, dev/ and proc/ in tests.
std::vector<Device> read_sysfs_devices(const fs::path& root);

// Temperature, power, clock, use, memory in use, ECC and processes of a device of read_sysfs_devices.
void read_sysfs_values(const fs::path& root, Device& device);

// Opens /dev/kfd for a moment, as HIP would.
KfdAccess look_at_kfd(const fs::path& root);

// Is the driver's module loaded, or built in?
bool has_amd_driver(const fs::path& root);
std::string amd_driver_version(const fs::path& root);

}  // namespace arena
