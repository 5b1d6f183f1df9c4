#include "worker/assigned_device.h"

#include <algorithm>

#include <fmt/format.h>

#include "device/device_health.h"
#include "device/device_probe.h"
#include "device/device_proof.h"
#include "device/inventory.h"

namespace arena {

namespace {

std::optional<Device> find_device(const Inventory& inventory, const std::string& identity) {
  const auto found = std::find_if(inventory.devices.begin(), inventory.devices.end(),
                                  [&](const Device& device) { return identity_of(device) == identity; });
  return found == inventory.devices.end() ? std::nullopt : std::optional<Device>(*found);
}

void add_fact(std::map<std::string, std::string>& facts, const std::string& key, const std::string& value) {
  if (!value.empty()) facts[key] = value;
}

std::map<std::string, std::string> facts_of(const Device& device, const ProbeReport& report) {
  std::map<std::string, std::string> facts;
  add_fact(facts, "vendor", std::string(name_of(device.vendor)));
  add_fact(facts, "pci_address", to_string(device.pci_address));
  if (device.partition) facts["partition"] = std::to_string(*device.partition);
  add_fact(facts, "unique_id", device.unique_id);
  add_fact(facts, "name", device.name);
  add_fact(facts, "arch", device.arch);
  const SourceKind kind = device.vendor == DeviceVendor::nvidia ? SourceKind::nvml : SourceKind::rocm_smi;
  add_fact(facts, "kernel_driver", device.driver);
  if (const SourceReport* const source = report.find(kind)) {
    add_fact(facts, "driver_version", source->driver_version);
    add_fact(facts, "management_library", source->library);
    add_fact(facts, "management_library_version", source->library_version);
  }
  return facts;
}

void add_runtime_facts(const std::vector<RuntimeView>& views, std::map<std::string, std::string>& facts) {
  for (const RuntimeView& view : views) {
    if (view.devices.empty()) continue;
    const std::string name(name_of(view.kind));
    add_fact(facts, name + "_library", view.library);
    add_fact(facts, name + "_runtime_version", view.runtime_version);
    add_fact(facts, name + "_driver_version", view.driver_version);
  }
}

}  // namespace

AssignedDevice::AssignedDevice() : mask_(mask_for_cpu()) {}

Result<AssignedDevice> AssignedDevice::take(const DeviceAssignment& assignment,
                                            const EnvironmentMap& environment,
                                            const std::function<bool()>& stop) {
  AssignedDevice taken;
  if (is_cpu_slot(assignment.identity)) return taken;
  taken.arena_probe_ = assignment.arena_probe;
  taken.environment_ = environment;
  taken.isolation_ = assignment.isolation;
  ARENA_ASSIGN(const ProbeReport report, probe_devices(assignment.arena_probe, environment));
  const Inventory inventory = join(report);
  taken.device_ = find_device(inventory, assignment.identity);
  if (!taken.device_) {
    return fail(ErrorCode::not_found,
                fmt::format("GPU {} is not on this machine{}{}", assignment.identity,
                            inventory.why_none.empty() ? "" : ": ", inventory.why_none));
  }
  ARENA_ASSIGN(const fs::path locks, device_lock_directory());
  auto lock = assignment.wait ? DeviceLock::acquire(locks, *taken.device_, assignment.holder, stop)
                              : DeviceLock::try_acquire(locks, *taken.device_, assignment.holder);
  if (!lock) return fail(std::move(lock).error());
  taken.lock_ = std::move(*lock);
  if (taken.device_->usability == Usability::unusable) {
    return fail(ErrorCode::not_found,
                fmt::format("{} cannot be used: {}", describe(*taken.device_), taken.device_->reason));
  }
  taken.facts_ = facts_of(*taken.device_, report);
  ARENA_TRY(taken.prove(inventory.devices));
  return taken;
}

Status AssignedDevice::prove(const std::vector<Device>& devices) {
  mask_ = mask_for(*device_, isolation_, devices);
  EnvironmentMap masked = environment_;
  apply_mask(mask_, masked);
  ARENA_ASSIGN(const std::vector<RuntimeView> views, see_devices(arena_probe_, masked));
  const bool own_numbers = isolation_ == Isolation::device_nodes;
  ARENA_TRY(check_proof(*device_, views, own_numbers ? NodeNumbers::own : NodeNumbers::shared));
  add_runtime_facts(views, facts_);
  return {};
}

Status AssignedDevice::check_health() const {
  if (!device_) return {};
  const std::string identity = identity_of(*device_);
  const auto report = probe_devices(arena_probe_, environment_);
  if (!report) return fail(ErrorCode::io, fmt::format("GPU {}: {}", identity, report.error().message));
  const auto sick = find_sickness(*device_, find_device(join(*report), identity), {});
  if (sick.empty()) return {};
  std::string reasons;
  for (const Sickness& sickness : sick) {
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", name_of(sickness.kind), sickness.reason);
  }
  return fail(ErrorCode::io, fmt::format("GPU {} is sick ({})", identity, reasons));
}

}  // namespace arena
