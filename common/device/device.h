#pragma once
// A device a worker can be given: a GPU, or one partition of a GPU. It is its PCI address (plus partition),
// then its unique id; an index is only what a person types. What nobody could tell is absent, never 0. A
// plain value.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/pci_address.h"

namespace arena {

enum class DeviceVendor { amd, nvidia, cpu };

enum class Usability {
  usable,        // a worker could use it here and now
  by_name_only,  // it could, but it is not taken unless --gpu-ids names it (integrated GPUs)
  unusable,
};

// A process with memory or queues on the device. One that merely opened the driver is none.
struct DeviceProcess {
  std::int64_t pid = 0;
  std::string name;  // empty: not readable
  std::optional<std::uint64_t> memory_bytes;
  bool operator==(const DeviceProcess&) const = default;
};

struct EccCounts {
  std::uint64_t correctable = 0;
  std::uint64_t uncorrectable = 0;
  bool operator==(const EccCounts&) const = default;
};

struct Device {
  DeviceVendor vendor = DeviceVendor::cpu;
  PciAddress pci_address;                 // of the card; the function never holds a partition here
  std::optional<std::int64_t> partition;  // absent: the whole card
  std::string partition_mode;             // "SPX", "CPX", "MIG"; empty: the card has none
  std::optional<std::int64_t> index;      // as the vendor's tool numbers it
  std::optional<std::int64_t> hip_index;  // as ROCr, and so HIP, numbers it when nothing is masked
  std::string unique_id;  // AMD: 16 hex digits, shared by a card's partitions; NVIDIA: GPU-<uuid>
  std::string name;
  std::string arch;  // gfx942, sm_90
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> memory_used_bytes;
  std::optional<std::int64_t> numa_node;
  std::string render_node;   // /dev/dri/renderD128
  std::string render_group;  // its group's name, or number where it has none
  std::string driver;        // kernel module that drives it
  std::optional<std::int64_t> kfd_node;
  std::optional<std::int64_t> hsa_node;  // the same node as HSA numbers it, which skips those it may not use
  std::optional<std::int64_t> kfd_gpu_id;
  bool integrated = false;  // part of a CPU
  std::optional<double> temperature_c;
  std::optional<double> power_w;
  std::optional<double> clock_mhz;
  std::optional<double> clock_max_mhz;
  std::optional<double> use_percent;
  std::optional<EccCounts> ecc;
  std::optional<std::vector<DeviceProcess>> processes;
  std::string hung;  // what was being read when the driver stopped answering; empty: it answers
  Usability usability = Usability::unusable;
  std::string reason;                // why it is not simply usable
  std::vector<std::string> remarks;  // where sources disagree about it
  bool operator==(const Device&) const = default;
};

// "0000:c1:00.0", or "0000:c1:00.0/3" for a partition: what names a device in locks, records and messages.
std::string identity_of(const Device& device);
// What stands in a GPU's place on a machine without: "cpu slot 3".
std::string cpu_slot_identity(std::int64_t slot);
bool is_cpu_slot(std::string_view identity);
// "GPU 3 (0000:c1:00.0)"
std::string describe(const Device& device);

std::string_view name_of(DeviceVendor vendor);
std::optional<DeviceVendor> parse_vendor(std::string_view name);

// Unknown values are null; keys are never left out.
nlohmann::ordered_json to_json(const Device& device);
Result<Device> device_from_json(const nlohmann::ordered_json& json);

}  // namespace arena
