#include "device/probe/list.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "device/probe/source.h"
#include "device/probe/sysfs.h"

namespace arena {

namespace {

using Json = nlohmann::ordered_json;

ChildJob job_of(SourceReport (*read)(const SourceSink&)) {
  return {[read](const ChildReport& report) { report.send({{"end", to_json(read(report.sink()))}}); }};
}

// Opening /dev/kfd counts as a use of the GPU for as long as the process lives.
ChildJob kfd_job() {
  return {[](const ChildReport& report) {
    ProbeReport only_kfd;
    only_kfd.kfd = look_at_kfd("/");
    report.send({{"kfd", to_json_text(only_kfd)}});
  }};
}

KfdAccess assemble_kfd(const ChildOutcome& outcome) {
  for (const Json& line : outcome.lines) {
    if (const auto found = line.find("kfd"); found != line.end()) {
      if (const auto report = parse_probe_report(found->get<std::string>())) return report->kfd;
    }
  }
  return {KfdAccess::State::no_driver, "opening /dev/kfd does not return: the driver hangs"};
}

std::string quoted_noise(const ChildOutcome& outcome) {
  if (outcome.noise.empty()) return "";
  std::string noise = outcome.noise;
  std::replace(noise.begin(), noise.end(), '\n', ' ');
  return fmt::format("; it wrote: {}", noise);
}

// A device as a source knows it, whatever it said of it before.
void keep_latest(std::vector<Device>& devices, Device device) {
  for (Device& known : devices) {
    if (identity_of(known) == identity_of(device) && known.index == device.index) {
      known = std::move(device);
      return;
    }
  }
  devices.push_back(std::move(device));
}

}  // namespace

SourceReport assemble_source(SourceKind kind, const ChildOutcome& outcome) {
  SourceReport report;
  report.kind = kind;
  std::vector<Device> devices;
  bool complete = false;
  for (const Json& line : outcome.lines) {
    if (const auto end = line.find("end"); end != line.end()) {
      if (auto source = source_from_json(*end)) report = std::move(*source), complete = true;
    } else if (const auto found = line.find("found"); found != line.end()) {
      if (auto device = device_from_json(*found)) keep_latest(devices, std::move(*device));
    }
  }
  report.kind = kind;
  if (outcome.end == ChildOutcome::End::hung) {
    report.state = SourceState::hung;
    report.message =
        fmt::format("{} did not answer in time while reading {}", name_of(kind), outcome.reading);
  } else if (!complete) {
    report.state = SourceState::failed;
    report.message = fmt::format("{} crashed while reading {}{}{}", name_of(kind), outcome.reading,
                                 outcome.signal != 0 ? fmt::format(" ({})", ::strsignal(outcome.signal)) : "",
                                 quoted_noise(outcome));
  } else if (report.state == SourceState::failed) {
    report.message += quoted_noise(outcome);
  }
  for (Device& device : devices) {
    for (const auto& [identity, what] : outcome.hung_devices) {
      if (identity == identity_of(device)) device.hung = what;
    }
  }
  report.devices = std::move(devices);
  return report;
}

ProbeReport list_devices(const ChildLimits& limits) {
  const std::vector<ChildOutcome> outcomes = run_children(
      {kfd_job(), job_of(read_sysfs_source), job_of(read_rocm_smi_source), job_of(read_nvml_source)}, limits);
  ProbeReport report;
  report.kfd = assemble_kfd(outcomes[0]);
  report.sources = {assemble_source(SourceKind::sysfs, outcomes[1]),
                    assemble_source(SourceKind::rocm_smi, outcomes[2]),
                    assemble_source(SourceKind::nvml, outcomes[3])};
  return report;
}

}  // namespace arena
