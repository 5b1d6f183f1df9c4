#include "device/telemetry.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace arena {

namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::optional<double> number_of(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_null() ? std::nullopt : std::optional<double>(value.get<double>());
}

std::optional<TelemetryRange> range_of(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return TelemetryRange{values.front(), median, values.back()};
}

}  // namespace

std::string to_json_line(const TelemetrySample& sample) {
  return Json{{"steady_ms", sample.steady.count()},
              {"clock_mhz", or_null(sample.clock_mhz)},
              {"power_w", or_null(sample.power_w)},
              {"temperature_c", or_null(sample.temperature_c)},
              {"throttle", sample.throttle ? Json(*sample.throttle) : Json(nullptr)}}
      .dump();
}

Result<TelemetrySample> parse_telemetry_line(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    TelemetrySample sample;
    sample.steady = std::chrono::milliseconds(json.at("steady_ms").get<std::int64_t>());
    sample.clock_mhz = number_of(json, "clock_mhz");
    sample.power_w = number_of(json, "power_w");
    sample.temperature_c = number_of(json, "temperature_c");
    if (const Json& throttle = json.at("throttle"); !throttle.is_null())
      sample.throttle = throttle.get<std::vector<std::string>>();
    return sample;
  } catch (const Json::exception& error) {
    return fail(ErrorCode::corrupt, fmt::format("cannot read a telemetry sample: {}", error.what()));
  }
}

TelemetrySummary summarize_telemetry(const std::vector<TelemetrySample>& samples,
                                     std::chrono::milliseconds begin, std::chrono::milliseconds end) {
  TelemetrySummary summary;
  std::vector<double> clocks;
  std::vector<double> powers;
  std::vector<double> temperatures;
  std::set<std::string> reasons;
  bool throttle_known = false;
  for (const TelemetrySample& sample : samples) {
    if (sample.steady < begin || sample.steady > end) continue;
    ++summary.samples;
    if (sample.clock_mhz) clocks.push_back(*sample.clock_mhz);
    if (sample.power_w) powers.push_back(*sample.power_w);
    if (sample.temperature_c) temperatures.push_back(*sample.temperature_c);
    if (!sample.throttle) continue;
    throttle_known = true;
    reasons.insert(sample.throttle->begin(), sample.throttle->end());
  }
  summary.clock_mhz = range_of(std::move(clocks));
  summary.power_w = range_of(std::move(powers));
  summary.temperature_c = range_of(std::move(temperatures));
  if (throttle_known) summary.throttle.emplace(reasons.begin(), reasons.end());
  return summary;
}

}  // namespace arena
