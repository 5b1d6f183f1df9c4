#pragma once
// Does the hardware match target_gpu_model? The table from model to architecture is model/run_config.h's;
// this compares.
#include "device/device.h"

namespace arena {

// refused, naming every device of another architecture than `wanted` ("gfx942"; empty: the model is not
// known, nothing to compare). A device whose architecture nobody told counts as another one.
Status check_gpu_model(std::string_view model, std::string_view wanted, const std::vector<Device>& selected);

}  // namespace arena
