#include "os/clock.h"

#include <ctime>

#include <fmt/chrono.h>

#include "base/text.h"

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

std::optional<WallTime> parse_utc(std::string_view text) {
  // 2026-12-01T10:15:00.123Z
  if (text.size() != 24 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':' || text[19] != '.' || text[23] != 'Z') {
    return std::nullopt;
  }
  const auto year = parse_integer(text.substr(0, 4)), month = parse_integer(text.substr(5, 2)),
             day = parse_integer(text.substr(8, 2));
  const auto hour = parse_integer(text.substr(11, 2)), minute = parse_integer(text.substr(14, 2));
  const auto second = parse_integer(text.substr(17, 2)), thousandth = parse_integer(text.substr(20, 3));
  if (!year || !month || !day || !hour || !minute || !second || !thousandth) return std::nullopt;
  std::tm broken{};
  broken.tm_year = static_cast<int>(*year) - 1900;
  broken.tm_mon = static_cast<int>(*month) - 1;
  broken.tm_mday = static_cast<int>(*day);
  broken.tm_hour = static_cast<int>(*hour);
  broken.tm_min = static_cast<int>(*minute);
  broken.tm_sec = static_cast<int>(*second);
  return std::chrono::system_clock::from_time_t(::timegm(&broken)) + std::chrono::milliseconds(*thousandth);
}

std::string format_run_timestamp(WallTime time) {
  return fmt::format("{:%Y%m%d_%H%M%S}", broken_down(time, ::localtime_r));
}

}  // namespace arena
