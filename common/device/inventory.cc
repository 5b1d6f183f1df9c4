#include "device/inventory.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "device/device_health.h"

namespace arena {

namespace {

// rocm_smi says partition 0 of cards that have none.
bool is_same_device(const Device& a, const Device& b) {
  return a.vendor == b.vendor && a.pci_address == b.pci_address &&
         a.partition.value_or(0) == b.partition.value_or(0);
}

Device* find_same(std::vector<Device>& devices, const Device& wanted) {
  for (Device& device : devices) {
    if (is_same_device(device, wanted)) return &device;
  }
  return nullptr;
}

template <class Value>
void fill(Value& value, const Value& other) {
  if (value == Value{}) value = other;
}

// What the kernel says stands; a vendor's library fills what it left open.
void take_vendor_facts(const Device& told, SourceKind source, Device& device) {
  device.index = told.index;
  if (!told.unique_id.empty() && !device.unique_id.empty() && told.unique_id != device.unique_id) {
    device.remarks.push_back(fmt::format("{} says its unique id is {}, the kernel {}", name_of(source),
                                         told.unique_id, device.unique_id));
  }
  fill(device.unique_id, told.unique_id);
  fill(device.name, told.name);
  fill(device.arch, told.arch);
  fill(device.partition_mode, told.partition_mode);
  fill(device.memory_bytes, told.memory_bytes);
  if (!device.partition) fill(device.memory_used_bytes, told.memory_used_bytes);
  fill(device.numa_node, told.numa_node);
  fill(device.temperature_c, told.temperature_c);
  fill(device.power_w, told.power_w);
  fill(device.clock_mhz, told.clock_mhz);
  fill(device.clock_max_mhz, told.clock_max_mhz);
  fill(device.use_percent, told.use_percent);
  fill(device.ecc, told.ecc);
  fill(device.processes, told.processes);
  fill(device.hung, told.hung);
  fill(device.reason, told.reason);
}

std::string_view vendor_label(DeviceVendor vendor) { return vendor == DeviceVendor::amd ? "AMD" : "NVIDIA"; }

void take_source(const SourceReport& source, DeviceVendor vendor, Inventory& inventory) {
  const bool concerned = std::any_of(inventory.devices.begin(), inventory.devices.end(),
                                     [&](const Device& device) { return device.vendor == vendor; });
  for (const Device& told : source.devices) {
    Device* const device = find_same(inventory.devices, told);
    if (device != nullptr && !device->index) {
      take_vendor_facts(told, source.kind, *device);
    } else if (device != nullptr) {
      inventory.problems.push_back(fmt::format("{} lists {} twice, as {} and {}", name_of(source.kind),
                                               identity_of(*device), *device->index,
                                               told.index.value_or(-1)));
    } else if (vendor == DeviceVendor::nvidia) {  // a container may hide the bus, and NVML needs none of it
      inventory.devices.push_back(told);
    } else {
      inventory.problems.push_back(fmt::format("{} lists {}, which the kernel does not show",
                                               name_of(source.kind), identity_of(told)));
    }
  }
  const bool answered = source.state == SourceState::ok;
  if (concerned && !answered) {
    inventory.problems.push_back(fmt::format("{}: {}", name_of(source.kind), source.message));
    inventory.complete = inventory.complete && source.state == SourceState::no_library;
  }
  if (!answered || source.devices.empty()) return;
  for (Device& device : inventory.devices) {
    if (device.vendor == vendor && !device.index) {
      device.remarks.push_back(
          fmt::format("{} does not list it, so it has no index there", name_of(source.kind)));
    }
  }
}

// A library that is not there numbers nothing; people still want to type a digit.
void number_by_address(DeviceVendor vendor, std::string_view library, Inventory& inventory) {
  std::int64_t next = 0;
  for (const Device& device : inventory.devices) {
    if (device.vendor == vendor && device.index) return;
  }
  for (Device& device : inventory.devices) {
    if (device.vendor == vendor) device.index = next++;
  }
  if (next > 0) {
    inventory.problems.push_back(fmt::format("{} gave no indexes: {} GPUs are numbered by PCI address",
                                             library, vendor_label(vendor)));
  }
}

void check_partition_counts(Inventory& inventory) {
  for (Device& device : inventory.devices) {
    const std::int64_t wanted = device.partition_mode == "DPX"   ? 2
                                : device.partition_mode == "TPX" ? 3
                                : device.partition_mode == "QPX" ? 4
                                                                 : 0;
    const auto count =
        std::count_if(inventory.devices.begin(), inventory.devices.end(), [&](const Device& other) {
          return other.vendor == device.vendor && other.pci_address == device.pci_address;
        });
    if ((wanted != 0 && count != wanted) || (device.partition_mode == "CPX" && count < 2)) {
      device.remarks.push_back(
          fmt::format("its card is in mode {}, but KFD shows {} of it", device.partition_mode, count));
    }
  }
}

std::string explain_none(const ProbeReport& report) {
  std::string why = "no AMD or NVIDIA GPU is on the PCI bus";
  if (report.kfd.state == KfdAccess::State::absent) why += ", and /dev/kfd does not exist";
  if (const SourceReport* const sysfs = report.find(SourceKind::sysfs);
      sysfs != nullptr && sysfs->state != SourceState::ok && sysfs->state != SourceState::no_device) {
    why = sysfs->message;
  }
  return why;
}

}  // namespace

Inventory join(const ProbeReport& report) {
  Inventory inventory;
  if (const SourceReport* const sysfs = report.find(SourceKind::sysfs)) {
    inventory.devices = sysfs->devices;
    if (sysfs->state != SourceState::ok && sysfs->state != SourceState::no_device) {
      inventory.problems.push_back(fmt::format("sysfs: {}", sysfs->message));
      inventory.complete = false;
    }
  }
  if (const SourceReport* const source = report.find(SourceKind::rocm_smi))
    take_source(*source, DeviceVendor::amd, inventory);
  if (const SourceReport* const source = report.find(SourceKind::nvml))
    take_source(*source, DeviceVendor::nvidia, inventory);
  const auto place = [](const Device& device) {
    return std::make_tuple(device.vendor, device.pci_address, device.partition.value_or(0));
  };
  std::sort(inventory.devices.begin(), inventory.devices.end(),
            [&](const Device& a, const Device& b) { return place(a) < place(b); });
  number_by_address(DeviceVendor::amd, "rocm_smi", inventory);
  number_by_address(DeviceVendor::nvidia, "NVML", inventory);
  check_partition_counts(inventory);
  for (Device& device : inventory.devices) judge_usability(report, device);
  if (inventory.devices.empty()) inventory.why_none = explain_none(report);
  return inventory;
}

}  // namespace arena
