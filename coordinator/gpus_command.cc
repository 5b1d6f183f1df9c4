#include <poll.h>

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "coordinator/commands.h"
#include "coordinator/device_table.h"
#include "coordinator/gpu_choice.h"
#include "device/device_mask.h"

namespace arena {

namespace {

constexpr int kWatchPeriodMs = 2000;

nlohmann::ordered_json describe_all(const Inventory& inventory, const DeviceSelection& selection) {
  std::set<std::string> selected;
  for (const Device& device : selection.devices) selected.insert(identity_of(device));
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Device& device : inventory.devices) {
    nlohmann::ordered_json entry = to_json(device);
    entry["selected"] = selected.contains(identity_of(device));
    // What a worker on it would get.
    const DeviceMask mask = mask_for(device, Isolation::environment, inventory.devices);
    entry["mask"] = {{"set", mask.set}, {"unset", mask.unset}};
    list.push_back(std::move(entry));
  }
  return list;
}

std::vector<std::string> table_lines(const Inventory& inventory, const DeviceSelection& selection,
                                     bool color) {
  if (inventory.devices.empty()) {
    return {fmt::format("no GPU found: {}", inventory.why_none),
            "runs use CPU slots here: target_gpu_model: CPU, --cpu-slots N"};
  }
  std::vector<std::string> lines = device_table(inventory.devices, selection, color);
  lines.push_back(
      selection.devices.empty()
          ? "no GPU is usable: only CPU slots (target_gpu_model: CPU, --cpu-slots N)"
          : fmt::format("a run would use {} of {}", selection.devices.size(), inventory.devices.size()));
  return lines;
}

void show(const GpuView& found, const Options& options, Console& console) {
  for (const std::string& problem : found.inventory.problems) console.error("warning: " + problem);
  if (options.json) {
    console.result(describe_all(found.inventory, found.selection)
                       .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return;
  }
  for (const std::string& line : table_lines(found.inventory, found.selection, console.color()))
    console.result(line);
}

int watch(const Options& options, World& world) {
  for (;;) {
    const auto found = look_at_gpus(options, world.paths.probe);
    if (!found) return report_error(found.error(), world.console);
    if (world.console.is_terminal() && !options.json) {
      std::vector<std::string> lines = table_lines(found->inventory, found->selection, world.console.color());
      for (const std::string& problem : found->inventory.problems) lines.push_back("warning: " + problem);
      const auto height = static_cast<std::size_t>(std::max(world.console.height() - 1, 1));
      if (lines.size() > height) lines.resize(height);
      world.console.draw(lines);
    } else {
      show(*found, options, world.console);
    }
    ::poll(nullptr, 0, kWatchPeriodMs);
  }
}

}  // namespace

int list_gpus(const Options& options, World& world) {
  if (options.watch) return watch(options, world);
  const auto found = look_at_gpus(options, world.paths.probe);
  if (!found) return report_error(found.error(), world.console);
  show(*found, options, world.console);
  return found->inventory.complete ? kAllDone : kUnfinished;
}

}  // namespace arena
