#pragma once
// What a device was doing around a timed step: samples as arena-probe writes them, one JSON object a line,
// and their summary.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace arena {

struct TelemetrySample {
  std::chrono::milliseconds steady{0};  // CLOCK_MONOTONIC: the same for every process of the machine
  std::optional<double> clock_mhz;
  std::optional<double> power_w;
  std::optional<double> temperature_c;
  std::optional<std::vector<std::string>>
      throttle;  // what holds the clock down; empty: nothing; absent: not known
  bool operator==(const TelemetrySample&) const = default;
};

std::string to_json_line(const TelemetrySample& sample);  // without the newline
Result<TelemetrySample> parse_telemetry_line(std::string_view line);

struct TelemetryRange {
  double min = 0;
  double median = 0;
  double max = 0;
  bool operator==(const TelemetryRange&) const = default;
};

struct TelemetrySummary {
  std::size_t samples = 0;
  std::optional<TelemetryRange> clock_mhz;
  std::optional<TelemetryRange> power_w;
  std::optional<TelemetryRange> temperature_c;
  std::optional<std::vector<std::string>> throttle;  // every reason that was seen; absent: never known
  bool operator==(const TelemetrySummary&) const = default;
};

// Of the samples from `begin` to `end`, both included. A quantity nobody measured is absent.
TelemetrySummary summarize_telemetry(const std::vector<TelemetrySample>& samples,
                                     std::chrono::milliseconds begin, std::chrono::milliseconds end);

}  // namespace arena
