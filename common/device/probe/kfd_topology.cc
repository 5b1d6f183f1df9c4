#include "device/probe/kfd_topology.h"

#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "device/probe/small_file.h"

namespace arena {

namespace {

// Heap types of the driver's memory banks that are the GPU's own memory: visible to the CPU or not.
constexpr std::uint64_t kVisibleHeap = 1;
constexpr std::uint64_t kPrivateHeap = 2;

std::map<std::string, std::uint64_t> read_properties(const fs::path& file) {
  std::map<std::string, std::uint64_t> properties;
  for (const std::string& line : split(read_small_file(file).value_or(""), "\n")) {
    const std::vector<std::string> words = split(line, " ");
    std::uint64_t value = 0;  // a unique id may have all 64 bits
    if (words.size() != 2) continue;
    const auto [end, error] = std::from_chars(words[1].data(), words[1].data() + words[1].size(), value);
    if (error == std::errc() && end == words[1].data() + words[1].size()) properties[words[0]] = value;
  }
  return properties;
}

std::uint64_t read_local_memory(const fs::path& node) {
  std::uint64_t bytes = 0;
  for (const std::string& bank : list_names(node / "mem_banks")) {
    auto properties = read_properties(node / "mem_banks" / bank / "properties");
    const std::uint64_t heap = properties["heap_type"];
    if (heap == kVisibleHeap || heap == kPrivateHeap) bytes += properties["size_in_bytes"];
  }
  return bytes;
}

}  // namespace

std::uint64_t KfdNode::property(const std::string& name) const {
  const auto found = properties.find(name);
  return found == properties.end() ? 0 : found->second;
}

std::vector<KfdNode> read_kfd_topology(const fs::path& root) {
  const fs::path nodes = root / "sys/class/kfd/kfd/topology/nodes";
  std::vector<KfdNode> topology;
  for (const std::string& name : list_names(nodes)) {
    const auto number = parse_integer(name);
    if (!number) continue;
    KfdNode node;
    node.node = *number;
    node.gpu_id = parse_integer(read_small_file(nodes / name / "gpu_id").value_or("")).value_or(0);
    node.properties = read_properties(nodes / name / "properties");
    node.memory_bytes = read_local_memory(nodes / name);
    topology.push_back(std::move(node));
  }
  return topology;
}

std::string architecture_of(std::uint64_t gfx_target_version) {
  if (gfx_target_version == 0) return "";
  return fmt::format("gfx{}{:x}{:x}", gfx_target_version / 10000, gfx_target_version / 100 % 100,
                     gfx_target_version % 100);
}

}  // namespace arena
