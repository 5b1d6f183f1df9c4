#include "device/device_selection.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/text.h"

namespace arena {

namespace {

constexpr std::size_t kLongestIndex = 5;  // longer digits are a unique id

tl::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::invalid_input, "--gpu-ids: " + std::move(message));
}

// Between two commas there must be something; blanks may stand anywhere.
Result<std::vector<std::string>> split_request(std::string_view request) {
  if (trim(request).empty()) return wrong("the value is empty; leave the flag out to use every usable GPU");
  std::vector<std::string> entries;
  std::size_t begin = 0;
  while (begin <= request.size()) {
    const std::size_t comma = std::min(request.find(',', begin), request.size());
    const std::vector<std::string> words = split(request.substr(begin, comma - begin), " \t\n");
    if (words.empty()) return wrong(fmt::format("an entry is missing beside a comma in '{}'", request));
    entries.insert(entries.end(), words.begin(), words.end());
    begin = comma + 1;
  }
  return entries;
}

bool is_index(std::string_view text) {
  return !text.empty() && text.size() <= kLongestIndex &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "0x8f3a…", "GPU-8f3a…" and "8f3a…" are the same AMD id; NVIDIA's keep their prefix.
std::string normalized_id(std::string_view text) {
  std::string id = to_lower(text);
  if (id.starts_with("gpu-") && id.find('-', 4) == std::string::npos) id = id.substr(4);
  if (id.starts_with("0x")) id = id.substr(2);
  return id;
}

// All devices an entry could mean; exactly one must remain.
using Matcher = std::function<bool(const Device&)>;

Result<Matcher> matcher_of(const std::string& entry) {
  if (is_index(entry)) {
    return Matcher([index = parse_integer(entry)](const Device& device) { return device.index == index; });
  }
  const std::size_t slash = entry.find('/');
  if (const auto address = parse_pci_address(std::string_view(entry).substr(0, slash))) {
    std::optional<std::int64_t> partition;
    if (slash != std::string::npos) {
      partition = parse_integer(std::string_view(entry).substr(slash + 1));
      if (!partition || *partition < 0)
        return wrong(fmt::format("'{}' has no partition number after its '/'", entry));
    }
    return Matcher([address, partition](const Device& device) {
      return device.pci_address == *address && (!partition || device.partition.value_or(0) == *partition);
    });
  }
  const std::string id = normalized_id(entry);
  if (id.size() >= 8 && id.find_first_not_of("0123456789abcdef-gpu") == std::string::npos) {
    return Matcher([id](const Device& device) {
      return !device.unique_id.empty() && normalized_id(device.unique_id) == id;
    });
  }
  return wrong(fmt::format(
      "'{}' is neither an index, a range like 0-3, a PCI address like 0000:c1:00.0, nor a unique id", entry));
}

std::string list_of(const std::vector<const Device*>& devices) {
  std::string list;
  for (const Device* device : devices) list += (list.empty() ? "" : ", ") + identity_of(*device);
  return list;
}

Result<const Device*> resolve(const std::vector<Device>& devices, const std::string& entry) {
  ARENA_ASSIGN(const Matcher matches, matcher_of(entry));
  std::vector<const Device*> found;
  for (const Device& device : devices) {
    if (matches(device)) found.push_back(&device);
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1)
    return wrong(fmt::format("'{}' names {} devices; say which: {}", entry, found.size(), list_of(found)));
  std::vector<const Device*> all;
  all.reserve(devices.size());
  for (const Device& device : devices) all.push_back(&device);
  if (all.empty()) return wrong(fmt::format("'{}' names nothing: this machine has no GPU", entry));
  return wrong(fmt::format("'{}' names no GPU of this machine; there are {} (see arena-coord gpus)", entry,
                           all.size() <= 16 ? list_of(all) : fmt::format("{}", all.size())));
}

// "0-3" becomes 0, 1, 2, 3; anything else stays.
Result<std::vector<std::string>> expand(const std::vector<std::string>& entries) {
  std::vector<std::string> expanded;
  for (const std::string& entry : entries) {
    const std::size_t dash = entry.find('-');
    const std::string first = entry.substr(0, dash);
    const std::string last = dash == std::string::npos ? "" : entry.substr(dash + 1);
    if (!is_index(first) || !is_index(last)) {
      expanded.push_back(entry);
      continue;
    }
    const std::int64_t begin = *parse_integer(first);
    const std::int64_t end = *parse_integer(last);
    if (begin > end) return wrong(fmt::format("the range '{}' runs backwards", entry));
    if (end - begin >= 4096) return wrong(fmt::format("the range '{}' is too long", entry));
    for (std::int64_t index = begin; index <= end; ++index) expanded.push_back(std::to_string(index));
  }
  return expanded;
}

}  // namespace

Result<DeviceSelection> select_devices(const std::vector<Device>& devices, std::string_view request) {
  ARENA_ASSIGN(const std::vector<std::string> written, split_request(request));
  ARENA_ASSIGN(const std::vector<std::string> entries, expand(written));
  std::vector<const Device*> chosen;
  for (const std::string& entry : entries) {
    ARENA_ASSIGN(const Device* const device, resolve(devices, entry));
    if (std::find(chosen.begin(), chosen.end(), device) != chosen.end())
      return wrong(fmt::format("'{}' names {} a second time", entry, describe(*device)));
    if (device->usability == Usability::unusable)
      return wrong(fmt::format("{} cannot be used: {}", describe(*device), device->reason));
    chosen.push_back(device);
  }
  DeviceSelection selection;
  for (const Device* device : chosen) selection.devices.push_back(*device);
  for (const Device& device : devices) {
    if (std::find(chosen.begin(), chosen.end(), &device) == chosen.end())
      selection.left_out.push_back({device, "not named by --gpu-ids"});
  }
  return selection;
}

DeviceSelection select_all_usable(const std::vector<Device>& devices) {
  DeviceSelection selection;
  for (const Device& device : devices) {
    if (device.usability == Usability::usable) {
      selection.devices.push_back(device);
    } else {
      selection.left_out.push_back({device, device.reason});
    }
  }
  return selection;
}

}  // namespace arena
