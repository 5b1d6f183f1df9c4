#include "os/clock.h"

#include <ctime>

#include <fmt/chrono.h>

namespace arena {

namespace {

std::tm broken_down(WallTime time, std::tm* (*convert)(const std::time_t*, std::tm*)) {
  const std::time_t seconds =
      std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(time));
  std::tm fields{};
  convert(&seconds, &fields);
  return fields;
}

}  // namespace

WallTime RealClock::now() { return std::chrono::system_clock::now(); }
SteadyTime RealClock::steady_now() { return std::chrono::steady_clock::now(); }

std::string format_utc(WallTime time) {
  const auto within = time - std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", broken_down(time, ::gmtime_r),
                     std::chrono::duration_cast<std::chrono::milliseconds>(within).count());
}

std::string format_run_timestamp(WallTime time) {
  return fmt::format("{:%Y%m%d_%H%M%S}", broken_down(time, ::localtime_r));
}

}  // namespace arena
