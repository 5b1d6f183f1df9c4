#pragma once
// What arena-probe found, source by source, before anybody compared them: one JSON object on its standard
// output. A source that hangs or crashes costs its own answer only.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "device/device.h"

namespace arena {

enum class SourceKind { sysfs, rocm_smi, nvml };

// Kept apart, because each is mended in another way.
enum class SourceState {
  ok,             // it answered; there may be no device all the same (no_device)
  no_library,     // the vendor's library is not installed
  no_driver,      // a card is there, its kernel driver is not
  no_permission,  // the driver refuses this user
  no_device,      // nothing of that vendor is here
  failed,         // the library reported an error or crashed
  hung,           // it did not answer in time
};

struct SourceReport {
  SourceKind kind = SourceKind::sysfs;
  SourceState state = SourceState::failed;
  std::string message;  // why, when it is not ok; one line
  std::string library;  // the file that was opened: librocm_smi64.so.1
  std::string library_version;
  std::string driver_version;
  std::vector<Device> devices;  // with only what this source knows; the first ones, if it hung
};

// /dev/kfd, which every use of an AMD GPU goes through.
struct KfdAccess {
  enum class State { ok, absent, denied, no_driver } state = State::absent;
  std::string message;  // "this user is not in its group 'render'"
};

struct ProbeReport {
  KfdAccess kfd;
  std::vector<SourceReport> sources;
  const SourceReport* find(SourceKind kind) const;
};

std::string_view name_of(SourceKind kind);
std::string_view name_of(SourceState state);
std::optional<SourceState> parse_source_state(std::string_view name);

nlohmann::ordered_json to_json(const SourceReport& source);
Result<SourceReport> source_from_json(const nlohmann::ordered_json& json);
std::string to_json_text(const ProbeReport& report);
Result<ProbeReport> parse_probe_report(std::string_view text);

}  // namespace arena
