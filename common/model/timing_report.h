#pragma once
// What the readers of performance reports share: limits of the input, units, and when a reported time counts.
#include <cstddef>
#include <string_view>

#include "model/timing.h"

namespace arena {

inline constexpr std::size_t kMaxReportBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxReportCases = 100'000;
inline constexpr int kMaxReportDepth = 64;

// A unit of time as a fraction, so that 3 us are exactly the double nearest to 0.003 ms.
struct TimeUnit {
  std::string_view name;
  double multiplier = 1;
  double divisor = 1;
  double to_ms(double value) const { return value * multiplier / divisor; }
};
inline constexpr TimeUnit kMilliseconds{"ms", 1, 1};
inline constexpr TimeUnit kMicroseconds{"us", 1, 1e3};
inline constexpr TimeUnit kNanoseconds{"ns", 1, 1e6};
inline constexpr TimeUnit kSeconds{"s", 1e3, 1};

// Sets time_ms, and problem when `value` is no time. `source` names where it stood, for the message.
void set_time(TimedCase& timed, double value, const TimeUnit& unit, std::string_view source);

}  // namespace arena
