#include "device/gpu_model.h"

#include <fmt/format.h>

namespace arena {

Status check_gpu_model(std::string_view model, std::string_view wanted, const std::vector<Device>& selected) {
  if (wanted.empty()) return {};
  std::string others;
  for (const Device& device : selected) {
    if (device.arch == wanted) continue;
    others += fmt::format("{}{} is {}", others.empty() ? "" : ", ", describe(device),
                          device.arch.empty() ? "of unknown architecture" : device.arch);
  }
  if (others.empty()) return {};
  return fail(
      ErrorCode::refused,
      fmt::format(
          "target_gpu_model {} means {}, but {}; select other GPUs with --gpu-ids, mend target_gpu_model, "
          "or insist with --allow-gpu-mismatch",
          model, wanted, others));
}

}  // namespace arena
