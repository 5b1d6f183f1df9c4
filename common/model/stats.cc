#include "model/stats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include "base/result.h"

namespace arena {

// Added up from left to right in plain doubles: v0.2 uses Python's sum(), and its last digit is compared.
std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

// Python's statistics.stdev computes exactly and rounds once, so plain doubles would differ in the last
// digit. 100 decimal digits hold the squares of any timing ratios without loss.
std::optional<double> sample_standard_deviation(const std::vector<double>& values) {
  using Exact = boost::multiprecision::cpp_bin_float_100;
  if (values.empty()) return std::nullopt;
  if (values.size() == 1) return 0.0;
  const Exact count = values.size();
  Exact sum = 0;
  for (const double value : values) sum += value;
  const Exact average = sum / count;
  Exact squares = 0;
  for (const double value : values) {
    const Exact distance = value - average;
    squares += distance * distance;
  }
  const Exact deviation = sqrt(Exact(squares / (count - 1)));
  return deviation.convert_to<double>();
}

std::optional<double> exclusive_percentile(std::vector<double> values, int percent) {
  ARENA_ASSERT(percent >= 1 && percent <= 99);
  if (values.empty()) return std::nullopt;
  if (values.size() == 1) return values.front();
  std::sort(values.begin(), values.end());
  const auto count = static_cast<std::int64_t>(values.size());
  const std::int64_t position = percent * (count + 1);  // in hundredths, from 1
  const std::int64_t left = std::clamp<std::int64_t>(position / 100, 1, count - 1);
  const auto weight = static_cast<double>(position - left * 100);  // outside 0..100 beyond the data
  return (values[left - 1] * (100 - weight) + values[left] * weight) / 100;
}

}  // namespace arena
