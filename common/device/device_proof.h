#pragma once
// What the runtimes that kernels are started with see under the mask of the asking process, and whether that
// is exactly the device it was assigned. A worker that cannot prove it must not claim.
#include <string>
#include <vector>

#include "device/device.h"
#include "device/probe_report.h"

namespace arena {

enum class RuntimeKind { hip, hsa, cuda };

struct SeenDevice {
  PciAddress pci_address;  // as the runtime says it; the function may hold a partition
  std::string unique_id;
  std::string name;
  std::string arch;
  std::optional<std::int64_t> node;  // HSA only: what tells partitions of one card apart
  std::optional<std::uint64_t> memory_bytes;
};

struct RuntimeView {
  RuntimeKind kind = RuntimeKind::hip;
  SourceState state = SourceState::failed;
  std::string message;
  std::string library;
  std::string runtime_version;
  std::string driver_version;
  std::vector<SeenDevice> devices;
};

std::string_view name_of(RuntimeKind kind);
nlohmann::ordered_json to_json(const RuntimeView& view);
Result<RuntimeView> view_from_json(const nlohmann::ordered_json& json);
std::string to_json_text(const std::vector<RuntimeView>& views);
Result<std::vector<RuntimeView>> parse_runtime_views(std::string_view text);

// Succeeds if HIP (CUDA for NVIDIA) sees one device, at the address of `assigned`, and nothing else that was
// told contradicts. Otherwise `refused`, with both addresses. Of a card's partitions HSA's node decides,
// where `numbers` says that the asker numbers nodes as the prober of `assigned` did (not in a
// container that got one device only).
enum class NodeNumbers { shared, own };
Status check_proof(const Device& assigned, const std::vector<RuntimeView>& views, NodeNumbers numbers);

}  // namespace arena
