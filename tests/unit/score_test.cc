#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "model/score.h"

namespace arena {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TaskResult correct(std::optional<double> speedup) {
  TaskResult result;
  result.pass_compilation = true;
  result.pass_correctness = true;
  result.speedup_ratio = speedup;
  result.benchmark_method_consistent = true;
  result.workload_consistent = true;
  return result;
}

}  // namespace

TEST_SUITE_BEGIN("score");

TEST_CASE("formula names are found again and nothing else is") {
  for (const auto formula : {ScoreFormula::points, ScoreFormula::points_strict, ScoreFormula::bounded}) {
    CHECK(score_formula_from(name_of(formula)) == formula);
  }
  CHECK_FALSE(score_formula_from("Points"));
  CHECK_FALSE(score_formula_from(""));
}

TEST_CASE(
    "points: nothing for what does not compile, 20 for what is wrong, 120 and 100 per speedup for the rest") {
  TaskResult result = correct(2.0);
  CHECK(compute_score(ScoreFormula::points, result) == 320);
  CHECK(compute_score(ScoreFormula::points, correct(1.0095280650735747)) == 220.95280650735748);
  result.pass_correctness = false;
  CHECK(compute_score(ScoreFormula::points, result) == 20);
  result.pass_compilation = false;
  CHECK(compute_score(ScoreFormula::points, result) == 0);
  result.pass_correctness = true;  // contradictory, and still nothing
  CHECK(compute_score(ScoreFormula::points, result) == 0);
}

TEST_CASE("points: a result of v0.2 without ratio is scored by its mean times") {
  TaskResult result = correct(std::nullopt);
  result.base_execution_time = 3;
  result.best_optimized_execution_time = 2;
  CHECK(compute_score(ScoreFormula::points, result) == 270);
  result.speedup_ratio = 0;
  CHECK(compute_score(ScoreFormula::points, result) == 270);
  result.best_optimized_execution_time = 0;
  CHECK(compute_score(ScoreFormula::points, result) == 120);
}

TEST_CASE("points: a result that says why it has no speedup gets none from mean times over different cases") {
  TaskResult result = correct(std::nullopt);
  result.base_execution_time = 3;
  result.best_optimized_execution_time = 2;
  result.speedup_calculation_error_message = "1 of 2 baseline cases without …";
  CHECK(compute_score(ScoreFormula::points, result) == 120);
  result.speedup_calculation_error_message.reset();
  result.not_measured["speedup_ratio"] = "the candidate has no timed case";
  CHECK(compute_score(ScoreFormula::points, result) == 120);
}

TEST_CASE("points_strict: the speedup counts only when method and workload are proved consistent") {
  TaskResult result = correct(2.0);
  CHECK(compute_score(ScoreFormula::points_strict, result) == 320);
  result.workload_consistent = false;
  CHECK(compute_score(ScoreFormula::points_strict, result) == 120);
  result = correct(2.0);
  result.benchmark_method_consistent = false;
  CHECK(compute_score(ScoreFormula::points_strict, result) == 120);
  result.benchmark_method_consistent.reset();
  CHECK(compute_score(ScoreFormula::points_strict, result) == 120);
  result = correct(0.0);
  result.base_execution_time = 3;
  result.best_optimized_execution_time = 2;
  CHECK(compute_score(ScoreFormula::points_strict, result) == 120);
}

TEST_CASE("bounded: the reward of v0.4 at its known points") {
  const std::pair<double, double> known[] = {{0.5, 0},    {1, 0},     {1.05, 0}, {1.2, 0.125},
                                             {1.5, 0.30}, {2, 0.475}, {3, 0.65}, {10, 0.895}};
  for (const auto& [speedup, reward] : known) {
    CAPTURE(speedup);
    CHECK(compute_score(ScoreFormula::bounded, correct(speedup)) == doctest::Approx(reward));
  }
  CHECK(compute_score(ScoreFormula::bounded, correct(1e300)) == 1);
}

TEST_CASE("bounded: whatever was not proved is 0, never null and never negative") {
  const auto spoil = [](auto change) {
    TaskResult result = correct(2.0);
    change(result);
    return compute_score(ScoreFormula::bounded, result);
  };
  CHECK(spoil([](TaskResult& r) { r.pass_compilation = false; }) == 0);
  CHECK(spoil([](TaskResult& r) { r.pass_correctness = false; }) == 0);
  CHECK(spoil([](TaskResult& r) { r.speedup_ratio.reset(); }) == 0);
  CHECK(spoil([](TaskResult& r) { r.benchmark_method_consistent = false; }) == 0);
  CHECK(spoil([](TaskResult& r) { r.benchmark_method_consistent.reset(); }) == 0);
  CHECK(spoil([](TaskResult& r) { r.workload_consistent = false; }) == 0);
  CHECK(spoil([](TaskResult& r) { r.pass_tool_gate = false; }) == 0);
  CHECK(spoil([](TaskResult& r) { r.candidate_accepted = false; }) == 0);
}

TEST_CASE("no formula answers with less than 0 or with no finite number") {
  for (const auto formula : {ScoreFormula::points, ScoreFormula::points_strict, ScoreFormula::bounded}) {
    for (const double speedup : {kNan, kInfinity, -kInfinity, -1.0, 0.0, 1e-320, 1e308}) {
      for (const double time : {kNan, kInfinity, -1.0, 0.0, 1e-320, 1e308}) {
        TaskResult result = correct(speedup);
        result.base_execution_time = time;
        result.best_optimized_execution_time = 1e-300;
        const double score = compute_score(formula, result);
        CAPTURE(speedup);
        CAPTURE(time);
        CHECK(std::isfinite(score));
        CHECK(score >= 0);
      }
    }
  }
}

TEST_SUITE_END();

}  // namespace arena
