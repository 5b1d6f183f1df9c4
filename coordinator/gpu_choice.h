#pragma once
// The GPUs of this machine as a run or a person asks for them: probed, marked where somebody has them, and
// selected by --gpu-ids, else by GPU_IDS as AgentKernelArena's make targets set it, else every usable one. A
// resume without --gpu-ids takes those that the run had, as far as they can be used.
#include <map>
#include <string>
#include <vector>

#include "coordinator/options.h"
#include "device/device_selection.h"
#include "device/inventory.h"

namespace arena {

struct GpuView {
  Inventory inventory;
  DeviceSelection selection;
  bool is_asked_for = false;                    // by --gpu-ids or GPU_IDS: then what is left out is no news
  std::map<std::string, std::string> versions;  // drivers and libraries, for run.yaml
};

Result<GpuView> look_at_gpus(const Options& options, const fs::path& arena_probe);

// For a run: at least one device, of the architecture that `model` names unless the user allows another, and
// none that somebody else has unless the user waits. Errors say how to mend it.
Status check_gpus_for_run(const GpuView& view, const Options& options, const std::string& model);

}  // namespace arena
