#pragma once
// The binary table amdgpu writes to <device>/gpu_metrics; only what tells whether the GPU is being held back.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace arena {

// Empty: nothing holds it back. Nothing: a table of another format, or cut.
std::optional<std::vector<std::string>> parse_throttle_reasons(std::string_view gpu_metrics);

}  // namespace arena
