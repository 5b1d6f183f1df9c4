#pragma once
// Whether a device can be used, from one reading, and whether it became sick, from two. Pure.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/probe_report.h"

namespace arena {

// Memory that an idle GPU's driver and a small desktop take for themselves.
inline constexpr std::uint64_t kIdleMemoryBytes = std::uint64_t{2} << 30;

// Sets usability and, where it is not usable, the reason: the first of what stands in its way.
void judge_usability(const ProbeReport& report, Device& device);

enum class SicknessKind { lost, hung, no_access, foreign_process, stranded_memory, ecc_errors, clock_stuck };

struct Sickness {
  SicknessKind kind;
  std::string reason;  // one line
};

// What makes a worker stop claiming on `now`; `before` is the reading at the worker's start. `now` is absent
// when the device is not found any more. Processes in `own` are the worker's, and memory that they hold is
// not stranded. Corrected ECC errors that grew are no sickness: the hardware did what it is for.
std::vector<Sickness> find_sickness(const Device& before, const std::optional<Device>& now,
                                    const std::set<std::int64_t>& own);

std::string_view name_of(SicknessKind kind);

}  // namespace arena
