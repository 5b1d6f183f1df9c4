#pragma once
// Asks the runtimes what they see under this process's environment. Each is asked in a child of its own: it
// becomes a GPU process by that, and may hang.
#include "device/device_proof.h"
#include "device/probe/children.h"

namespace arena {

std::vector<RuntimeView> see_devices(const ChildLimits& limits);

// Each loads its runtime into the calling process.
RuntimeView see_hip();
RuntimeView see_hsa();
RuntimeView see_cuda();

}  // namespace arena
