#pragma once
// Statistics as v0.2's reports use them. Inputs need not be sorted. Empty input gives nothing, never 0.
#include <optional>
#include <vector>

namespace arena {

std::optional<double> mean(const std::vector<double>& values);
std::optional<double> median(std::vector<double> values);
// Sample standard deviation (n - 1); 0 for a single value, as v0.2 prints it.
std::optional<double> sample_standard_deviation(const std::vector<double>& values);
// The i-th percentile by the exclusive method of Python's statistics.quantiles(n=100): it extrapolates beyond
// the data for small samples ([1, 2] has P25 0.75). One value is its own percentile. 1 <= percent <= 99.
std::optional<double> exclusive_percentile(std::vector<double> values, int percent);

}  // namespace arena
