#include <doctest/doctest.h>

#include "model/stats.h"

namespace arena {

TEST_SUITE_BEGIN("stats");

TEST_CASE("nothing measured gives nothing") {
  CHECK_FALSE(mean({}));
  CHECK_FALSE(median({}));
  CHECK_FALSE(sample_standard_deviation({}));
  CHECK_FALSE(exclusive_percentile({}, 50));
}

TEST_CASE("one value is its own mean, median and percentile and spreads nowhere") {
  CHECK(mean({2.5}) == 2.5);
  CHECK(median({2.5}) == 2.5);
  CHECK(sample_standard_deviation({2.5}) == 0);
  for (const int percent : {1, 25, 50, 99}) CHECK(exclusive_percentile({2.5}, percent) == 2.5);
}

TEST_CASE("order does not matter where it must not") {
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 3, 2}) == 2.5);
  CHECK(exclusive_percentile({2, 1}, 25) == exclusive_percentile({1, 2}, 25));
}

TEST_CASE("percentiles of small samples lie beyond the data, as Python's do") {
  CHECK(exclusive_percentile({1, 2}, 25) == 0.75);
  CHECK(exclusive_percentile({1, 2}, 90) == 2.7);
  CHECK(exclusive_percentile({1, 2}, 1) == 0.03);
  CHECK(exclusive_percentile({1, 2, 3}, 99) == 3.96);
}

// Expected values from Python 3.11: statistics.stdev, statistics.quantiles(n=100), sum()/len.
TEST_CASE("every digit is Python's") {
  const std::vector<double> values{1.1,    0.3,  7.25,     1.0095280650735747, 3.3333333333333335,
                                   0.9523, 1e-5, 12345.678};
  CHECK(mean(values) == 1544.9528964248009);
  CHECK(sample_standard_deviation(values) == 4364.1526188113585);
  CHECK(exclusive_percentile(values, 25) == 0.46307500000000007);
  CHECK(exclusive_percentile(values, 75) == 6.270833333333334);
  CHECK(exclusive_percentile(values, 90) == 13579.5208);
  CHECK(sample_standard_deviation({1.58, 2.125}) == 0.38537319574666834);
  CHECK(sample_standard_deviation({1e8 + 0.1, 1e8 + 0.2, 1e8 + 0.3}) == 0.10000000149011622);
}

TEST_SUITE_END();

}  // namespace arena
