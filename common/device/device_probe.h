#pragma once
// Runs arena-probe as a child with a deadline. The caller never opens a vendor's library, so it cannot hang
// in one or become a GPU process. Not for use while another thread waits for children.
#include <chrono>

#include "base/path.h"
#include "device/device_proof.h"
#include "device/probe_report.h"
#include "os/process.h"

namespace arena {

// arena-probe gives up on everything after 30 s; this is for the probe itself.
inline constexpr std::chrono::milliseconds kProbeDeadline{40000};

// What is on this machine. Errors: not_found (no arena-probe), timed_out, io (it crashed), corrupt (what it
// wrote).
Result<ProbeReport> probe_devices(const fs::path& arena_probe, const EnvironmentMap& environment,
                                  std::chrono::milliseconds deadline = kProbeDeadline);

// What the runtimes see in `environment`, which should be the one that tasks get.
Result<std::vector<RuntimeView>> see_devices(const fs::path& arena_probe, const EnvironmentMap& environment,
                                             std::chrono::milliseconds deadline = kProbeDeadline);

}  // namespace arena
