// --gpu-ids as a user types it, and what arena-probe prints.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "device/device_proof.h"
#include "device/device_selection.h"
#include "device/inventory.h"
#include "device/probe/gpu_metrics.h"
#include "device/telemetry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const auto report = arena::parse_probe_report(text)) {
    // What was read is written and read again as the same.
    ARENA_ASSERT(arena::to_json_text(*report) ==
                 arena::to_json_text(*arena::parse_probe_report(arena::to_json_text(*report))));
    arena::join(*report);
  }
  arena::parse_runtime_views(text);
  arena::parse_telemetry_line(text);
  arena::parse_throttle_reasons(text);
  std::vector<arena::Device> devices(3);
  for (std::uint8_t i = 0; i < 3; ++i) {
    devices[i].pci_address.bus = i;
    devices[i].index = i;
    devices[i].usability = arena::Usability::usable;
  }
  if (const auto selection = arena::select_devices(devices, text))
    ARENA_ASSERT(!selection->devices.empty() && selection->devices.size() + selection->left_out.size() == 3);
  return 0;
}
