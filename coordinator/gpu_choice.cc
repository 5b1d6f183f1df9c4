#include "coordinator/gpu_choice.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "device/device_lock.h"
#include "device/device_probe.h"
#include "device/gpu_model.h"
#include "model/run_config.h"
#include "os/environment.h"

namespace arena {

namespace {

// Empty variables count: GPU_IDS= is a mistake to be told, not "all".
std::optional<std::string> requested_ids(const Options& options) {
  if (options.gpu_ids) return options.gpu_ids;
  const char* const inherited = std::getenv("GPU_IDS");
  return inherited != nullptr ? std::optional<std::string>(inherited) : std::nullopt;
}

// A device that another run has is as good as not there, whatever its own state.
void mark_taken(Inventory& inventory) {
  const auto directory = device_lock_directory();
  if (!directory) return inventory.problems.push_back(directory.error().message);
  for (Device& device : inventory.devices) {
    const auto holder = DeviceLock::holder_of(*directory, device);
    if (!holder || device.usability == Usability::unusable) continue;
    device.usability = Usability::unusable;
    device.reason = "taken by " + *holder;
  }
}

// What is left of them: one that was lost does not keep a run from going on.
void select_remembered(const std::vector<std::string>& identities, GpuView& view) {
  view.is_asked_for = true;
  for (const std::string& identity : identities) {
    const auto& devices = view.inventory.devices;
    const auto found = std::find_if(devices.begin(), devices.end(),
                                    [&](const Device& device) { return identity_of(device) == identity; });
    if (found != devices.end() && found->usability != Usability::unusable) {
      view.selection.devices.push_back(*found);
    } else {
      view.inventory.problems.push_back(
          fmt::format("GPU {} of this run cannot be used now: {}", identity,
                      found == devices.end() ? "it is not there" : found->reason));
    }
  }
}

void add_version(std::map<std::string, std::string>& versions, const std::string& name,
                 const std::string& version) {
  if (!version.empty()) versions[name] = version;
}

}  // namespace

Result<GpuView> look_at_gpus(const Options& options, const fs::path& arena_probe) {
  ARENA_ASSIGN(const ProbeReport report, probe_devices(arena_probe, current_environment()));
  GpuView view{join(report), {}, false, {}};
  // A resume may find them held by workers of its own run, which it adopts or ends.
  const bool resumes = options.resume_latest || !options.resume_run.empty();
  if (!options.wait_for_gpu && !resumes) mark_taken(view.inventory);
  if (!options.remembered_gpus.empty()) {
    select_remembered(options.remembered_gpus, view);
  } else if (const auto ids = requested_ids(options)) {
    view.is_asked_for = true;
    ARENA_ASSIGN(view.selection, select_devices(view.inventory.devices, *ids));
  } else {
    view.selection = select_all_usable(view.inventory.devices);
  }
  for (const SourceReport& source : report.sources) {
    const std::string name(name_of(source.kind));
    add_version(view.versions, name + " library", source.library_version);
    add_version(view.versions, name + " driver", source.driver_version);
  }
  return view;
}

Status check_gpus_for_run(const GpuView& view, const Options& options, const std::string& model) {
  const std::vector<Device>& devices = view.selection.devices;
  if (devices.empty()) {
    return fail(ErrorCode::invalid_input,
                view.inventory.devices.empty()
                    ? fmt::format("target_gpu_model is {}, but no GPU was found: {}; --cpu-slots N runs on "
                                  "the CPU all the same",
                                  model, view.inventory.why_none)
                    : fmt::format("target_gpu_model is {}, but no GPU is usable: {}; see arena-coord gpus",
                                  model, view.inventory.devices.front().reason));
  }
  for (const Device& device : devices) {
    if (device.usability == Usability::unusable) {
      return fail(ErrorCode::invalid_input,
                  fmt::format("{} cannot be used: {}{}", describe(device), device.reason,
                              device.reason.starts_with("taken by") ? "; --wait-for-gpu waits for it" : ""));
    }
  }
  if (options.allow_gpu_mismatch) return {};
  const Status fits = check_gpu_model(model, architecture_of_model(model).value_or(""), devices);
  if (fits) return {};
  return fail(ErrorCode::invalid_input, fits.error().message);
}

}  // namespace arena
