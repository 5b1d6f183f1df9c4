#pragma once
// Which devices a run uses: what --gpu-ids (or GPU_IDS) names, else every usable one. Pure. A request that is
// wrong in any part is an error as a whole, never "all".
#include <string>
#include <vector>

#include "device/device.h"

namespace arena {

struct LeftOut {
  Device device;
  std::string reason;
};

struct DeviceSelection {
  std::vector<Device> devices;
  std::vector<LeftOut> left_out;  // told to the user
};

// Entries apart by commas or blanks: an index (3), a range (0-3), a PCI address (0000:c1:00.0, c1:00.0, with
// /2 for a partition), a unique id (8f3a2c1d01111111, 0x8f3a…, GPU-…). All errors are invalid_input.
Result<DeviceSelection> select_devices(const std::vector<Device>& devices, std::string_view request);

// Every usable discrete device.
DeviceSelection select_all_usable(const std::vector<Device>& devices);

}  // namespace arena
