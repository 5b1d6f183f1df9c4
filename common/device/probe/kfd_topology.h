#pragma once
// The compute driver's view of the machine, from sysfs: which GPUs ROCr, and so HIP, will enumerate, and in
// which order.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/path.h"

namespace arena {

struct KfdNode {
  std::int64_t node = 0;
  std::int64_t gpu_id = 0;  // 0: a CPU
  std::map<std::string, std::uint64_t>
      properties;                  // empty: this process may not see the GPU, or it is broken
  std::uint64_t memory_bytes = 0;  // of its local memory banks
  std::uint64_t property(const std::string& name) const;  // 0 if it is not there
};

// In node order; empty without a topology. `root` is "/", or a directory with sys/ and dev/ in tests.
std::vector<KfdNode> read_kfd_topology(const fs::path& root);

// "gfx90a" of gfx_target_version 90010; empty for 0.
std::string architecture_of(std::uint64_t gfx_target_version);

}  // namespace arena
