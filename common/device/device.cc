#include "device/device.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace arena {

namespace {

constexpr std::string_view kCpuSlot = "cpu slot ";

using Json = nlohmann::ordered_json;

// Written to files and read by people's scripts: never renamed.
constexpr std::array<std::pair<DeviceVendor, std::string_view>, 3> kVendors = {
    {{DeviceVendor::amd, "amd"}, {DeviceVendor::nvidia, "nvidia"}, {DeviceVendor::cpu, "cpu"}}};
constexpr std::array<std::pair<Usability, std::string_view>, 3> kUsabilities = {
    {{Usability::usable, "usable"},
     {Usability::by_name_only, "by_name_only"},
     {Usability::unusable, "unusable"}}};

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(to_printable_utf8(text)); }

template <class T>
void take(const Json& json, const char* key, std::optional<T>& value) {
  if (const auto found = json.find(key); found != json.end() && !found->is_null()) value = found->get<T>();
}
void take(const Json& json, const char* key, std::string& text) {
  if (const auto found = json.find(key); found != json.end() && !found->is_null())
    text = found->get<std::string>();
}

Json processes_json(const Device& device) {
  if (!device.processes) return nullptr;
  Json list = Json::array();
  for (const DeviceProcess& process : *device.processes) {
    list.push_back({{"pid", process.pid},
                    {"name", or_null(process.name)},
                    {"memory_bytes", or_null(process.memory_bytes)}});
  }
  return list;
}

std::optional<std::vector<DeviceProcess>> take_processes(const Json& json) {
  const auto found = json.find("processes");
  if (found == json.end() || found->is_null()) return std::nullopt;
  std::vector<DeviceProcess> processes;
  for (const Json& entry : *found) {
    DeviceProcess process;
    process.pid = entry.at("pid").get<std::int64_t>();
    take(entry, "name", process.name);
    take(entry, "memory_bytes", process.memory_bytes);
    processes.push_back(process);
  }
  return processes;
}

Device parse_device(const Json& json) {
  Device device;
  const auto vendor = parse_vendor(json.at("vendor").get<std::string>());
  if (!vendor) throw std::invalid_argument("vendor is unknown");
  device.vendor = *vendor;
  const auto address = parse_pci_address(json.at("pci_address").get<std::string>());
  if (!address) throw std::invalid_argument("pci_address is none");
  device.pci_address = *address;
  take(json, "index", device.index);
  take(json, "hip_index", device.hip_index);
  take(json, "partition", device.partition);
  take(json, "partition_mode", device.partition_mode);
  take(json, "unique_id", device.unique_id);
  take(json, "name", device.name);
  take(json, "arch", device.arch);
  take(json, "memory_bytes", device.memory_bytes);
  take(json, "memory_used_bytes", device.memory_used_bytes);
  take(json, "numa_node", device.numa_node);
  take(json, "render_node", device.render_node);
  take(json, "render_group", device.render_group);
  take(json, "driver", device.driver);
  take(json, "kfd_node", device.kfd_node);
  take(json, "hsa_node", device.hsa_node);
  take(json, "kfd_gpu_id", device.kfd_gpu_id);
  device.integrated = json.value("integrated", false);
  take(json, "temperature_c", device.temperature_c);
  take(json, "power_w", device.power_w);
  take(json, "clock_mhz", device.clock_mhz);
  take(json, "clock_max_mhz", device.clock_max_mhz);
  take(json, "use_percent", device.use_percent);
  if (const auto ecc = json.find("ecc"); ecc != json.end() && !ecc->is_null()) {
    device.ecc =
        EccCounts{ecc->at("correctable").get<std::uint64_t>(), ecc->at("uncorrectable").get<std::uint64_t>()};
  }
  device.processes = take_processes(json);
  take(json, "hung", device.hung);
  const std::string usability = json.value("usability", "unusable");
  for (const auto& [value, name] : kUsabilities) {
    if (name == usability) device.usability = value;
  }
  take(json, "reason", device.reason);
  if (const auto remarks = json.find("remarks"); remarks != json.end())
    device.remarks = remarks->get<std::vector<std::string>>();
  return device;
}

}  // namespace

std::string identity_of(const Device& device) {
  const std::string address = to_string(device.pci_address);
  return device.partition ? fmt::format("{}/{}", address, *device.partition) : address;
}

std::string cpu_slot_identity(std::int64_t slot) { return fmt::format("{}{}", kCpuSlot, slot); }

bool is_cpu_slot(std::string_view identity) { return identity.starts_with(kCpuSlot); }

std::string describe(const Device& device) {
  if (!device.index) return fmt::format("GPU {}", identity_of(device));
  return fmt::format("GPU {} ({})", *device.index, identity_of(device));
}

std::string_view name_of(DeviceVendor vendor) {
  for (const auto& [value, name] : kVendors) {
    if (value == vendor) return name;
  }
  ARENA_ASSERT(false);
}

std::optional<DeviceVendor> parse_vendor(std::string_view name) {
  for (const auto& [value, known] : kVendors) {
    if (known == name) return value;
  }
  return std::nullopt;
}

Json to_json(const Device& device) {
  Json json;
  json["vendor"] = name_of(device.vendor);
  json["index"] = or_null(device.index);
  json["hip_index"] = or_null(device.hip_index);
  json["pci_address"] = to_string(device.pci_address);
  json["partition"] = or_null(device.partition);
  json["partition_mode"] = or_null(device.partition_mode);
  json["unique_id"] = or_null(device.unique_id);
  json["name"] = or_null(device.name);
  json["arch"] = or_null(device.arch);
  json["memory_bytes"] = or_null(device.memory_bytes);
  json["memory_used_bytes"] = or_null(device.memory_used_bytes);
  json["numa_node"] = or_null(device.numa_node);
  json["render_node"] = or_null(device.render_node);
  json["render_group"] = or_null(device.render_group);
  json["driver"] = or_null(device.driver);
  json["kfd_node"] = or_null(device.kfd_node);
  json["hsa_node"] = or_null(device.hsa_node);
  json["kfd_gpu_id"] = or_null(device.kfd_gpu_id);
  json["integrated"] = device.integrated;
  json["temperature_c"] = or_null(device.temperature_c);
  json["power_w"] = or_null(device.power_w);
  json["clock_mhz"] = or_null(device.clock_mhz);
  json["clock_max_mhz"] = or_null(device.clock_max_mhz);
  json["use_percent"] = or_null(device.use_percent);
  json["ecc"] = device.ecc ? Json{{"correctable", device.ecc->correctable},
                                  {"uncorrectable", device.ecc->uncorrectable}}
                           : Json(nullptr);
  json["processes"] = processes_json(device);
  json["hung"] = or_null(device.hung);
  json["usable"] = device.usability == Usability::usable;
  for (const auto& [value, name] : kUsabilities) {
    if (value == device.usability) json["usability"] = name;
  }
  json["reason"] = or_null(device.reason);
  json["remarks"] = device.remarks;
  return json;
}

Result<Device> device_from_json(const Json& json) {
  try {
    return parse_device(json);
  } catch (const std::exception& error) {  // nlohmann's own types derive from it
    return fail(ErrorCode::corrupt, fmt::format("cannot read a device from JSON: {}", error.what()));
  }
}

}  // namespace arena
