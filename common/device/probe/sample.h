#pragma once
// Telemetry of one device, a line every period on standard output, until SIGTERM, until its parent is gone,
// or, where standard input is a pipe, until that closes. Reads sysfs or NVML only: neither makes it a GPU
// process.
#include <chrono>

#include "base/result.h"
#include "device/device.h"

namespace arena {

Status stream_telemetry(DeviceVendor vendor, const PciAddress& address, std::chrono::milliseconds period);

}  // namespace arena
