#include "coordinator/device_table.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

namespace arena {

namespace {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align;
  std::function<std::string(const Device&)> cell;
};

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string whole(const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : ""; }
std::string rounded(const std::optional<double>& value, std::string_view unit) {
  return value ? fmt::format("{:.0f}{}", *value, unit) : "";
}

std::string gibibytes(const std::optional<std::uint64_t>& bytes) {
  return bytes ? fmt::format("{:.0f}G", static_cast<double>(*bytes) / (std::uint64_t{1} << 30)) : "";
}

std::string memory_cell(const Device& device) {
  const std::string total = gibibytes(device.memory_bytes);
  const std::string used = gibibytes(device.memory_used_bytes);
  return used.empty() || total.empty() ? total : used + "/" + total;
}

std::string partition_cell(const Device& device) {
  if (!device.partition) return device.partition_mode;
  return fmt::format("{}{}{}", device.partition_mode, device.partition_mode.empty() ? "" : " ",
                     *device.partition);
}

std::string render_cell(const Device& device) {
  if (device.render_node.empty()) return "";
  const std::string name = device.render_node.substr(device.render_node.rfind('/') + 1);
  return device.render_group.empty() ? name : fmt::format("{} ({})", name, device.render_group);
}

std::string processes_cell(const Device& device) {
  if (!device.processes) return "";
  return std::to_string(device.processes->size());
}

std::string usable_cell(const Device& device) {
  return device.usability == Usability::usable ? "yes" : "no: " + device.reason;
}

std::vector<Column> columns(const std::set<std::string>& selected) {
  return {
      {"", Align::left,
       [selected](const Device& device) { return selected.contains(identity_of(device)) ? "*" : ""; }},
      {"GPU", Align::right, [](const Device& device) { return whole(device.index); }},
      {"HIP", Align::right, [](const Device& device) { return whole(device.hip_index); }},
      {"PCI", Align::left, [](const Device& device) { return to_string(device.pci_address); }},
      {"PART", Align::left, partition_cell},
      {"UNIQUE ID", Align::left, [](const Device& device) { return device.unique_id; }},
      {"NAME", Align::left, [](const Device& device) { return device.name; }},
      {"ARCH", Align::left, [](const Device& device) { return device.arch; }},
      {"MEMORY", Align::right, memory_cell},
      {"NUMA", Align::right, [](const Device& device) { return whole(device.numa_node); }},
      {"RENDER", Align::left, render_cell},
      {"TEMP", Align::right, [](const Device& device) { return rounded(device.temperature_c, "C"); }},
      {"POWER", Align::right, [](const Device& device) { return rounded(device.power_w, "W"); }},
      {"CLOCK", Align::right, [](const Device& device) { return rounded(device.clock_mhz, "MHz"); }},
      {"USE", Align::right, [](const Device& device) { return rounded(device.use_percent, "%"); }},
      {"PROC", Align::right, processes_cell},
      {"USABLE", Align::left, usable_cell},
  };
}

std::string pad(const std::string& text, std::size_t width, Align align) {
  return align == Align::left ? fmt::format("{:<{}}", text, width) : fmt::format("{:>{}}", text, width);
}

void trim_right(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

std::vector<std::string> device_table(const std::vector<Device>& devices, const DeviceSelection& selection,
                                      bool color) {
  std::set<std::string> selected;
  for (const Device& device : selection.devices) selected.insert(identity_of(device));
  std::string head;
  std::vector<std::string> lines(devices.size());
  for (const Column& column : columns(selected)) {
    std::vector<std::string> cells;
    std::size_t width = column.title.size();
    bool empty = true;
    for (const Device& device : devices) {
      const std::string cell = column.cell(device);
      empty = empty && cell.empty();
      cells.push_back(column.title.empty() ? fmt::format("{:<1}", cell) : or_dash(cell));
      width = std::max(width, cells.back().size());
    }
    if (empty) continue;
    head += pad(column.title, width, column.align) + "  ";
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += pad(cells[i], width, column.align) + "  ";
  }
  trim_right(head);
  std::vector<std::string> table = {head};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    trim_right(lines[i]);
    const bool marked = color && devices[i].usability != Usability::usable;
    table.push_back(marked ? "\x1b[33m" + lines[i] + "\x1b[0m" : lines[i]);
    for (const std::string& remark : devices[i].remarks)
      table.push_back("     " + identity_of(devices[i]) + ": " + remark);
  }
  return table;
}

}  // namespace arena
