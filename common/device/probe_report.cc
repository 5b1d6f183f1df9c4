#include "device/probe_report.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace arena {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

template <class Enum, std::size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Names<SourceKind, 3> kKinds = {
    {{SourceKind::sysfs, "sysfs"}, {SourceKind::rocm_smi, "rocm_smi"}, {SourceKind::nvml, "nvml"}}};
constexpr Names<SourceState, 7> kStates = {{{SourceState::ok, "ok"},
                                            {SourceState::no_library, "no_library"},
                                            {SourceState::no_driver, "no_driver"},
                                            {SourceState::no_permission, "no_permission"},
                                            {SourceState::no_device, "no_device"},
                                            {SourceState::failed, "failed"},
                                            {SourceState::hung, "hung"}}};
constexpr Names<KfdAccess::State, 4> kAccess = {{{KfdAccess::State::ok, "ok"},
                                                 {KfdAccess::State::absent, "absent"},
                                                 {KfdAccess::State::denied, "denied"},
                                                 {KfdAccess::State::no_driver, "no_driver"}}};

template <class Enum, std::size_t N>
std::string_view name_in(const Names<Enum, N>& names, Enum value) {
  for (const auto& [known, name] : names) {
    if (known == value) return name;
  }
  ARENA_ASSERT(false);
}

template <class Enum, std::size_t N>
std::optional<Enum> find_in(const Names<Enum, N>& names, std::string_view name) {
  for (const auto& [value, known] : names) {
    if (known == name) return value;
  }
  return std::nullopt;
}

tl::unexpected<Error> corrupt(std::string_view why) {
  return fail(ErrorCode::corrupt, fmt::format("cannot read arena-probe's report: {}", why));
}

}  // namespace

const SourceReport* ProbeReport::find(SourceKind kind) const {
  for (const SourceReport& source : sources) {
    if (source.kind == kind) return &source;
  }
  return nullptr;
}

std::string_view name_of(SourceKind kind) { return name_in(kKinds, kind); }
std::string_view name_of(SourceState state) { return name_in(kStates, state); }
std::optional<SourceState> parse_source_state(std::string_view name) { return find_in(kStates, name); }

Json to_json(const SourceReport& source) {
  Json json{{"source", name_of(source.kind)},
            {"state", name_of(source.state)},
            {"message", to_printable_utf8(source.message)},
            {"library", source.library},
            {"library_version", to_printable_utf8(source.library_version)},
            {"driver_version", to_printable_utf8(source.driver_version)},
            {"devices", Json::array()}};
  for (const Device& device : source.devices) json["devices"].push_back(to_json(device));
  return json;
}

Result<SourceReport> source_from_json(const Json& json) {
  try {
    SourceReport source;
    const auto kind = find_in(kKinds, json.at("source").get<std::string>());
    const auto state = find_in(kStates, json.at("state").get<std::string>());
    if (!kind || !state) return corrupt("a source or state is unknown");
    source.kind = *kind;
    source.state = *state;
    source.message = json.at("message").get<std::string>();
    source.library = json.at("library").get<std::string>();
    source.library_version = json.at("library_version").get<std::string>();
    source.driver_version = json.at("driver_version").get<std::string>();
    for (const Json& entry : json.at("devices")) {
      ARENA_ASSIGN(Device device, device_from_json(entry));
      source.devices.push_back(std::move(device));
    }
    return source;
  } catch (const Json::exception& error) {
    return corrupt(error.what());
  }
}

std::string to_json_text(const ProbeReport& report) {
  Json json{{"format", kFormat},
            {"kfd", {{"state", name_in(kAccess, report.kfd.state)}, {"message", report.kfd.message}}},
            {"sources", Json::array()}};
  for (const SourceReport& source : report.sources) json["sources"].push_back(to_json(source));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<ProbeReport> parse_probe_report(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    if (json.at("format").get<int>() != kFormat) return corrupt("it has another format");
    ProbeReport report;
    const auto access = find_in(kAccess, json.at("kfd").at("state").get<std::string>());
    if (!access) return corrupt("the state of /dev/kfd is unknown");
    report.kfd = {*access, json.at("kfd").at("message").get<std::string>()};
    for (const Json& entry : json.at("sources")) {
      ARENA_ASSIGN(SourceReport source, source_from_json(entry));
      report.sources.push_back(std::move(source));
    }
    return report;
  } catch (const Json::exception& error) {
    return corrupt(error.what());
  }
}

}  // namespace arena
