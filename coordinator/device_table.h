#pragma once
// The devices as a table for people. Pure.
#include <string>
#include <vector>

#include "device/device_selection.h"

namespace arena {

// A head, a line per device, and below a device its remarks. Columns line up; one that is empty for all is
// left out. `color` marks unusable devices and dims nothing else.
std::vector<std::string> device_table(const std::vector<Device>& devices, const DeviceSelection& selection,
                                      bool color);

}  // namespace arena
