#pragma once
// The devices of this machine, joined from what every source told: sysfs says what is there and what HIP will
// see, rocm_smi and NVML number it and add values. Where they disagree, the device or the inventory says so.
// Pure.
#include <string>
#include <vector>

#include "device/device.h"
#include "device/probe_report.h"

namespace arena {

struct Inventory {
  std::vector<Device> devices;  // by vendor, then by address: never in an order of some tool
  std::vector<std::string>
      problems;          // a source that failed, devices it lists that are not there: one line each
  std::string why_none;  // set when there is no device: what was looked for and missed
  // Every source that matters for the hardware here answered.
  bool complete = true;
};

Inventory join(const ProbeReport& report);

}  // namespace arena
