#pragma once
// Time as the runner needs it: wall time for names and records, steady time for limits. Tests use a
// ManualClock.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace arena {

using WallTime = std::chrono::system_clock::time_point;
using SteadyTime = std::chrono::steady_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime now() = 0;
  virtual SteadyTime steady_now() = 0;
};

class RealClock final : public Clock {
 public:
  WallTime now() override;
  SteadyTime steady_now() override;
};

std::string format_utc(WallTime time);                     // 2026-12-01T10:15:00.123Z
std::optional<WallTime> parse_utc(std::string_view text);  // its inverse
std::string format_run_timestamp(WallTime time);           // 20261201_101500, local time, as v0.2 names runs

}  // namespace arena
