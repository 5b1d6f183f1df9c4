#pragma once
// The environment that shows a task exactly one device, the same for baseline, agent and evaluation. One
// table; pure. AMD filters twice: ROCr by ROCR_VISIBLE_DEVICES, then HIP, which numbers the survivors from 0.
// So the physical device stands in ROCr's variable only, and every HIP variable says 0.
#include <map>
#include <string>
#include <vector>

#include "device/device.h"

namespace arena {

enum class Isolation {
  environment,   // a process that could open every device of the machine
  device_nodes,  // a container that was given this device's nodes and no others
};

struct DeviceMask {
  std::map<std::string, std::string> set;
  std::vector<std::string> unset;  // inherited ones that would mask once more
};

// Takes `devices`, all of the machine, to know whether a unique id names one of them only.
DeviceMask mask_for(const Device& device, Isolation isolation, const std::vector<Device>& devices);

// A worker on a CPU slot sees no GPU.
DeviceMask mask_for_cpu();

// `environment` under the mask.
void apply_mask(const DeviceMask& mask, std::map<std::string, std::string>& environment);

}  // namespace arena
