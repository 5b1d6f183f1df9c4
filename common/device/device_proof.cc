#include "device/device_proof.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace arena {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr std::array<std::pair<RuntimeKind, std::string_view>, 3> kKinds = {
    {{RuntimeKind::hip, "hip"}, {RuntimeKind::hsa, "hsa"}, {RuntimeKind::cuda, "cuda"}}};

tl::unexpected<Error> corrupt(std::string_view why) {
  return fail(ErrorCode::corrupt, fmt::format("cannot read what arena-probe saw: {}", why));
}

RuntimeView parse_view(const Json& json) {
  RuntimeView view;
  bool known = false;
  for (const auto& [kind, name] : kKinds) {
    if (name == json.at("runtime").get<std::string>()) view.kind = kind, known = true;
  }
  const auto state = parse_source_state(json.at("state").get<std::string>());
  if (!known || !state) throw std::invalid_argument("a runtime or state is unknown");
  view.state = *state;
  view.message = json.at("message").get<std::string>();
  view.library = json.at("library").get<std::string>();
  view.runtime_version = json.at("runtime_version").get<std::string>();
  view.driver_version = json.at("driver_version").get<std::string>();
  for (const Json& entry : json.at("devices")) {
    SeenDevice device;
    const auto address = parse_pci_address(entry.at("pci_address").get<std::string>());
    if (!address) throw std::invalid_argument("a PCI address is none");
    device.pci_address = *address;
    device.unique_id = entry.at("unique_id").get<std::string>();
    device.name = entry.at("name").get<std::string>();
    device.arch = entry.at("arch").get<std::string>();
    if (const auto node = entry.find("node"); node != entry.end() && !node->is_null())
      device.node = node->get<std::int64_t>();
    if (!entry.at("memory_bytes").is_null())
      device.memory_bytes = entry.at("memory_bytes").get<std::uint64_t>();
    view.devices.push_back(std::move(device));
  }
  return view;
}

bool same_card(const PciAddress& a, const PciAddress& b) {
  return a.domain == b.domain && a.bus == b.bus && a.device == b.device;
}

std::string addresses_of(const RuntimeView& view) {
  std::string list;
  for (const SeenDevice& device : view.devices)
    list += (list.empty() ? "" : ", ") + to_string(device.pci_address);
  return list;
}

tl::unexpected<Error> refuse(const Device& assigned, std::string_view why) {
  return fail(ErrorCode::refused,
              fmt::format("cannot prove that this worker uses {}: {}", describe(assigned), why));
}

Status check_view(const Device& assigned, const RuntimeView& view) {
  const std::string_view runtime = name_of(view.kind);
  if (view.devices.empty()) {
    return refuse(assigned, fmt::format("{} sees no device{}{}", runtime, view.message.empty() ? "" : ": ",
                                        view.message));
  }
  if (view.devices.size() > 1) {
    return refuse(assigned, fmt::format("{} sees {} devices ({}) instead of one", runtime,
                                        view.devices.size(), addresses_of(view)));
  }
  const SeenDevice& seen = view.devices.front();
  if (!same_card(seen.pci_address, assigned.pci_address)) {
    return refuse(assigned, fmt::format("{} sees {}, assigned was {}", runtime, to_string(seen.pci_address),
                                        to_string(assigned.pci_address)));
  }
  if (!seen.unique_id.empty() && !assigned.unique_id.empty() && seen.unique_id != assigned.unique_id) {
    return refuse(assigned, fmt::format("{} sees unique id {} at {}, assigned was {}", runtime,
                                        seen.unique_id, to_string(seen.pci_address), assigned.unique_id));
  }
  return {};
}

const RuntimeView* find_view(const std::vector<RuntimeView>& views, RuntimeKind kind) {
  for (const RuntimeView& view : views) {
    if (view.kind == kind) return &view;
  }
  return nullptr;
}

}  // namespace

std::string_view name_of(RuntimeKind kind) {
  for (const auto& [known, name] : kKinds) {
    if (known == kind) return name;
  }
  ARENA_ASSERT(false);
}

Json to_json(const RuntimeView& view) {
  Json json{{"runtime", name_of(view.kind)},
            {"state", name_of(view.state)},
            {"message", to_printable_utf8(view.message)},
            {"library", view.library},
            {"runtime_version", view.runtime_version},
            {"driver_version", view.driver_version},
            {"devices", Json::array()}};
  for (const SeenDevice& device : view.devices) {
    json["devices"].push_back(
        {{"pci_address", to_string(device.pci_address)},
         {"unique_id", to_printable_utf8(device.unique_id)},
         {"name", to_printable_utf8(device.name)},
         {"arch", to_printable_utf8(device.arch)},
         {"node", device.node ? Json(*device.node) : Json(nullptr)},
         {"memory_bytes", device.memory_bytes ? Json(*device.memory_bytes) : Json(nullptr)}});
  }
  return json;
}

Result<RuntimeView> view_from_json(const Json& json) {
  try {
    return parse_view(json);
  } catch (const std::exception& error) {
    return corrupt(error.what());
  }
}

std::string to_json_text(const std::vector<RuntimeView>& views) {
  Json json{{"format", kFormat}, {"views", Json::array()}};
  for (const RuntimeView& view : views) json["views"].push_back(to_json(view));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::vector<RuntimeView>> parse_runtime_views(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    if (json.at("format").get<int>() != kFormat) return corrupt("it has another format");
    std::vector<RuntimeView> views;
    for (const Json& entry : json.at("views")) views.push_back(parse_view(entry));
    return views;
  } catch (const std::exception& error) {
    return corrupt(error.what());
  }
}

Status check_proof(const Device& assigned, const std::vector<RuntimeView>& views, NodeNumbers numbers) {
  if (assigned.vendor == DeviceVendor::cpu) return {};
  const RuntimeKind needed = assigned.vendor == DeviceVendor::amd ? RuntimeKind::hip : RuntimeKind::cuda;
  const RuntimeView* const view = find_view(views, needed);
  if (view == nullptr) return refuse(assigned, fmt::format("{} was not asked", name_of(needed)));
  if (view->state != SourceState::ok && view->state != SourceState::no_device)
    return refuse(assigned, fmt::format("{}: {}", name_of(needed), view->message));
  ARENA_TRY(check_view(assigned, *view));
  if (assigned.vendor != DeviceVendor::amd) return {};
  const RuntimeView* const hsa = find_view(views, RuntimeKind::hsa);
  const bool hsa_answers = hsa != nullptr && hsa->state == SourceState::ok;
  if (hsa_answers) ARENA_TRY(check_view(assigned, *hsa));
  if (!assigned.partition || numbers == NodeNumbers::own) return {};
  if (!hsa_answers)
    return refuse(assigned,
                  "it is a partition, and only the HSA runtime tells partitions apart; it did not answer");
  if (hsa->devices.front().node != assigned.hsa_node) {
    return refuse(assigned,
                  fmt::format("hsa sees node {}, assigned was node {}",
                              hsa->devices.front().node.value_or(-1), assigned.hsa_node.value_or(-1)));
  }
  return {};
}

}  // namespace arena
