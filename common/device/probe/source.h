#pragma once
// How a source of device facts reports while it works, so that whoever waits for it knows what it was reading
// when it hung, and keeps what it had found by then.
#include <functional>
#include <string>

#include "device/probe_report.h"

namespace arena {

struct SourceSink {
  // About to ask `device` (empty: the library as a whole) for `what`. False: it hung there before, leave it
  // alone.
  std::function<bool(const std::string& what, const std::string& device)> reading;
  // Known so far of a device; a later call for the same one replaces it.
  std::function<void(const Device&)> found;
};

// Each returns its report without the devices: those went to the sink.
SourceReport read_sysfs_source(const SourceSink& sink);
SourceReport read_rocm_smi_source(const SourceSink& sink);
SourceReport read_nvml_source(const SourceSink& sink);

}  // namespace arena
