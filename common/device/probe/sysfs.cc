#include "device/probe/sysfs.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "device/probe/device_node.h"
#include "device/probe/kfd_topology.h"
#include "device/probe/small_file.h"

namespace arena {

namespace {

constexpr std::string_view kAmd = "0x1002";
constexpr std::string_view kNvidia = "0x10de";

// Architectures that exist only as part of a CPU (Raven, Renoir, Van Gogh, Rembrandt, Raphael, Phoenix,
// Strix, …). MI300A, a data-center part, is not among them.
constexpr std::array<std::string_view, 12> kIntegrated = {"gfx902",  "gfx909",  "gfx90c",  "gfx1013",
                                                          "gfx1033", "gfx1035", "gfx1036", "gfx1103",
                                                          "gfx1150", "gfx1151", "gfx1152", "gfx1153"};
// Where the driver says nothing else: no discrete GPU of the last ten years has so little memory.
constexpr std::uint64_t kIntegratedMemory = std::uint64_t{1} << 30;

fs::path pci_directory(const fs::path& root, const PciAddress& address) {
  return root / "sys/bus/pci/devices" / to_string(address);
}

std::optional<std::uint64_t> read_bytes(const fs::path& file) {
  const auto value = parse_integer(read_small_file(file).value_or(""));
  return value && *value >= 0 ? std::optional<std::uint64_t>(*value) : std::nullopt;
}

// A GPU's class is display controller (0x03) or processing accelerator (0x12).
bool is_gpu_class(std::string_view pci_class) {
  return pci_class.starts_with("0x03") || pci_class.starts_with("0x12");
}

std::string read_driver(const fs::path& directory) {
  boost::system::error_code error;
  return fs::read_symlink(directory / "driver", error).filename().string();
}

void take_render_node(const fs::path& root, const std::string& name, Device& device) {
  device.render_node = "/dev/dri/" + name;
  const DeviceNode node = look_at_device_node(root, device.render_node);
  device.render_group = node.group;
  if (node.error != 0) device.reason = node.message;
}

// What the card's PCI directory tells, whether it is partitioned or not.
Device read_card(const fs::path& root, const PciAddress& address, DeviceVendor vendor) {
  const fs::path directory = pci_directory(root, address);
  Device card;
  card.vendor = vendor;
  card.pci_address = address;
  card.driver = read_driver(directory);
  const auto numa = parse_integer(read_small_file(directory / "numa_node").value_or(""));
  if (numa && *numa >= 0) card.numa_node = numa;
  for (const std::string& name : list_names(directory / "drm")) {
    if (name.starts_with("renderD")) take_render_node(root, name, card);
  }
  if (vendor != DeviceVendor::amd) return card;
  card.name = read_small_file(directory / "product_name").value_or("");
  card.unique_id = to_lower(read_small_file(directory / "unique_id").value_or(""));
  card.partition_mode = read_small_file(directory / "current_compute_partition").value_or("");
  card.memory_bytes = read_bytes(directory / "mem_info_vram_total");
  card.integrated =
      card.unique_id.empty() && card.memory_bytes.value_or(kIntegratedMemory) < kIntegratedMemory;
  return card;
}

std::vector<Device> read_cards(const fs::path& root) {
  std::vector<Device> cards;
  for (const std::string& name : list_names(root / "sys/bus/pci/devices")) {
    const auto address = parse_pci_address(name);
    const fs::path directory = root / "sys/bus/pci/devices" / name;
    if (!address || !is_gpu_class(read_small_file(directory / "class").value_or(""))) continue;
    const std::string vendor = read_small_file(directory / "vendor").value_or("");
    if (vendor == kAmd) cards.push_back(read_card(root, *address, DeviceVendor::amd));
    if (vendor == kNvidia) cards.push_back(read_card(root, *address, DeviceVendor::nvidia));
  }
  return cards;
}

// A GPU of the KFD topology, with its place on the bus taken apart.
struct ComputeNode {
  const KfdNode* node;
  PciAddress address;  // function cleared
  std::uint64_t function;
  std::uint64_t high_bits;
};

std::vector<ComputeNode> compute_nodes(const std::vector<KfdNode>& topology) {
  std::vector<ComputeNode> nodes;
  for (const KfdNode& node : topology) {
    if (node.property("simd_count") == 0) continue;
    const std::uint64_t location = node.property("location_id");
    nodes.push_back({&node,
                     {static_cast<std::uint32_t>(node.property("domain")),
                      static_cast<std::uint8_t>(location >> 8 & 0xff),
                      static_cast<std::uint8_t>(location >> 3 & 0x1f), 0},
                     location & 7,
                     location >> 28 & 0xf});
  }
  return nodes;
}

// Older kernels tell partitions apart in the function bits, newer ones in bits 28 to 31.
std::int64_t partition_of(const ComputeNode& node, bool high) {
  return static_cast<std::int64_t>(high ? node.high_bits : node.function);
}

void take_node(const fs::path& root, const KfdNode& node, Device& device) {
  device.kfd_node = node.node;
  device.kfd_gpu_id = node.gpu_id;
  device.arch = architecture_of(node.property("gfx_target_version"));
  device.integrated = std::find(kIntegrated.begin(), kIntegrated.end(), device.arch) != kIntegrated.end();
  if (const std::uint64_t id = node.property("unique_id"); id != 0) {
    const std::string text = fmt::format("{:016x}", id);
    if (!device.unique_id.empty() && device.unique_id != text) {
      device.remarks.push_back(
          fmt::format("its unique id is {} in KFD and {} on the bus", text, device.unique_id));
    }
    device.unique_id = text;  // the one that ROCr compares a mask with
  }
  if (const std::uint64_t minor = node.property("drm_render_minor"); minor != 0) {
    device.reason.clear();
    take_render_node(root, fmt::format("renderD{}", minor), device);
  }
}

// One device per KFD node on the card; the card itself where it has none.
std::vector<Device> split_card(const fs::path& root, const Device& card,
                               const std::vector<ComputeNode>& nodes) {
  std::vector<ComputeNode> own;
  for (const ComputeNode& node : nodes) {
    PciAddress place = card.pci_address;
    place.function = 0;
    if (node.address == place) own.push_back(node);
  }
  if (own.empty()) return {card};
  const bool high =
      std::any_of(own.begin(), own.end(), [](const ComputeNode& node) { return node.high_bits != 0; });
  std::vector<Device> devices;
  for (const ComputeNode& node : own) {
    Device device = card;
    take_node(root, *node.node, device);
    if (own.size() > 1) {
      device.partition = partition_of(node, high);
      if (node.node->memory_bytes != 0) device.memory_bytes = node.node->memory_bytes;
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

// ROCr numbers the GPUs in the order of their KFD nodes. Nodes without properties, and GPUs whose render node
// it cannot open, it leaves out and does not count.
void number_for_runtimes(const std::vector<KfdNode>& topology, std::vector<Device>& devices) {
  std::int64_t next_node = 0;
  std::int64_t next_gpu = 0;
  for (const KfdNode& node : topology) {
    if (node.properties.empty()) continue;
    if (node.property("simd_count") == 0) {
      ++next_node;
      continue;
    }
    for (Device& device : devices) {
      if (device.kfd_node != node.node || !device.reason.empty()) continue;
      device.hsa_node = next_node++;
      device.hip_index = next_gpu++;
    }
  }
}

void explain_missing_nodes(const std::vector<KfdNode>& topology, std::vector<Device>& devices) {
  const auto mute = std::find_if(topology.begin(), topology.end(), [](const KfdNode& node) {
    return node.gpu_id != 0 && node.properties.empty();
  });
  for (Device& device : devices) {
    if (device.vendor != DeviceVendor::amd || device.kfd_node || device.driver != "amdgpu") continue;
    const std::string why =
        topology.empty() ? "the driver offers no compute (KFD) topology"
        : mute != topology.end()
            ? fmt::format(
                  "KFD shows nothing of it: node {} has no properties, so the driver failed to set it up or "
                  "this container may not use it",
                  mute->node)
            : "KFD has no node for it";
    device.reason = why + "; HIP will not see it";
  }
}

// --- values ---

std::optional<double> scaled(const fs::path& file, double factor) {
  const auto value = read_number(file);
  return value ? std::optional<double>(*value * factor) : std::nullopt;
}

// MI300X has no edge sensor: junction then.
std::optional<double> read_temperature(const fs::path& hwmon) {
  std::optional<double> junction;
  for (const std::string& name : list_names(hwmon)) {
    if (!name.starts_with("temp") || !name.ends_with("_label")) continue;
    const std::string label = read_small_file(hwmon / name).value_or("");
    const fs::path input = hwmon / (name.substr(0, name.size() - 6) + "_input");
    if (label == "edge") return scaled(input, 1e-3);
    if (label == "junction") junction = scaled(input, 1e-3);
  }
  return junction;
}

struct ClockLevels {
  std::optional<double> current, most;
};

// "0: 132Mhz *\n1: 2100Mhz": the marked level is the current one.
ClockLevels parse_clock_levels(std::string_view text) {
  ClockLevels levels;
  for (const std::string& line : split(text, "\n")) {
    const std::vector<std::string> words = split(line, " ");
    if (words.size() < 2) continue;
    const std::string number = to_lower(words[1]).substr(0, to_lower(words[1]).find("mhz"));
    const auto mhz = parse_double(number);
    if (!mhz) continue;
    levels.most = std::max(levels.most.value_or(0), *mhz);
    if (words.back() == "*") levels.current = mhz;
  }
  return levels;
}

std::optional<EccCounts> read_ecc(const fs::path& ras) {
  std::optional<EccCounts> sum;
  for (const std::string& name : list_names(ras)) {
    if (!name.ends_with("_err_count")) continue;
    for (const std::string& line : split(read_small_file(ras / name).value_or(""), "\n")) {
      const std::vector<std::string> words = split(line, ": ");
      const auto count = words.size() == 2 ? parse_integer(words[1]) : std::nullopt;
      if (!count || *count < 0) continue;
      if (!sum) sum = EccCounts{};
      (words[0] == "ue" ? sum->uncorrectable : sum->correctable) += static_cast<std::uint64_t>(*count);
    }
  }
  return sum;
}

// Processes with memory or queues on the GPU; one that merely opened /dev/kfd (every SMI caller) is none.
std::optional<std::vector<DeviceProcess>> read_processes(const fs::path& root, std::int64_t gpu_id) {
  const fs::path directory = root / "sys/class/kfd/kfd/proc";
  boost::system::error_code error;
  if (!fs::is_directory(directory, error)) return std::nullopt;
  std::vector<DeviceProcess> processes;
  for (const std::string& name : list_names(directory)) {
    const auto pid = parse_integer(name);
    if (!pid) continue;
    const auto memory = read_bytes(directory / name / fmt::format("vram_{}", gpu_id));
    bool queues = false;
    for (const std::string& queue : list_names(directory / name / "queues")) {
      queues =
          queues || read_number(directory / name / "queues" / queue / "gpuid") == static_cast<double>(gpu_id);
    }
    if (memory.value_or(0) == 0 && !queues) continue;
    processes.push_back({*pid, read_small_file(root / "proc" / name / "comm").value_or(""), memory});
  }
  return processes;
}

}  // namespace

std::vector<Device> read_sysfs_devices(const fs::path& root) {
  const std::vector<KfdNode> topology = read_kfd_topology(root);
  const std::vector<ComputeNode> nodes = compute_nodes(topology);
  std::vector<Device> devices;
  for (const Device& card : read_cards(root)) {
    const std::vector<Device> parts =
        card.vendor == DeviceVendor::amd ? split_card(root, card, nodes) : std::vector<Device>{card};
    devices.insert(devices.end(), parts.begin(), parts.end());
  }
  explain_missing_nodes(topology, devices);
  number_for_runtimes(topology, devices);
  return devices;
}

void read_sysfs_values(const fs::path& root, Device& device) {
  if (device.vendor != DeviceVendor::amd) return;
  const fs::path directory = pci_directory(root, device.pci_address);
  for (const std::string& name : list_names(directory / "hwmon")) {
    const fs::path hwmon = directory / "hwmon" / name;
    device.temperature_c = read_temperature(hwmon);
    device.power_w = scaled(hwmon / "power1_average", 1e-6);
    if (!device.power_w) device.power_w = scaled(hwmon / "power1_input", 1e-6);
    if (read_small_file(hwmon / "freq1_label") == "sclk")
      device.clock_mhz = scaled(hwmon / "freq1_input", 1e-6);
  }
  const ClockLevels levels = parse_clock_levels(read_small_file(directory / "pp_dpm_sclk").value_or(""));
  if (!device.clock_mhz) device.clock_mhz = levels.current;
  device.clock_max_mhz = levels.most;
  device.use_percent = read_number(directory / "gpu_busy_percent");
  device.ecc = read_ecc(directory / "ras");
  // Of a partitioned card nobody tells which partition holds the memory.
  if (!device.partition) device.memory_used_bytes = read_bytes(directory / "mem_info_vram_used");
  if (device.kfd_gpu_id) device.processes = read_processes(root, *device.kfd_gpu_id);
}

KfdAccess look_at_kfd(const fs::path& root) {
  const DeviceNode node = look_at_device_node(root, "/dev/kfd");
  if (node.error == 0) return {KfdAccess::State::ok, ""};
  if (node.error == ENOENT) return {KfdAccess::State::absent, node.message};
  if (node.error == EACCES || node.error == EPERM) return {KfdAccess::State::denied, node.message};
  return {KfdAccess::State::no_driver, node.message};
}

bool has_amd_driver(const fs::path& root) {
  boost::system::error_code error;
  return fs::exists(root / "sys/module/amdgpu", error) ||
         fs::exists(root / "sys/bus/pci/drivers/amdgpu", error);
}

std::string amd_driver_version(const fs::path& root) {
  return read_small_file(root / "sys/module/amdgpu/version").value_or("");
}

}  // namespace arena
