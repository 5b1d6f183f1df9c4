#include "model/score.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace arena {

namespace {

constexpr double kCompilationPoints = 20;
constexpr double kCorrectnessPoints = 100;
constexpr double kPointsPerSpeedup = 100;
constexpr double kBreakEvenSpeedup = 1.05;  // of `bounded`

bool is_positive(std::optional<double> value) { return value && std::isfinite(*value) && *value > 0; }

// Ratio under the gates of v0.3 and later: a flag that is missing is no proof.
std::optional<double> proved_speedup(const TaskResult& result) {
  const bool proved = result.benchmark_method_consistent.value_or(false) &&
                      result.workload_consistent.value_or(true) && result.pass_tool_gate.value_or(true) &&
                      result.candidate_accepted.value_or(true);
  if (!proved || !is_positive(result.speedup_ratio)) return std::nullopt;
  return result.speedup_ratio;
}

double points(const TaskResult& result, std::optional<double> speedup) {
  if (!result.pass_compilation) return 0;
  if (!result.pass_correctness) return kCompilationPoints;
  const double score = kCompilationPoints + kCorrectnessPoints + kPointsPerSpeedup * speedup.value_or(0);
  return std::min(score, std::numeric_limits<double>::max());  // never infinite either
}

}  // namespace

std::string_view name_of(ScoreFormula formula) {
  switch (formula) {
    case ScoreFormula::points:
      return "points";
    case ScoreFormula::points_strict:
      return "points_strict";
    case ScoreFormula::bounded:
      return "bounded";
  }
  return "points";
}

std::optional<ScoreFormula> score_formula_from(std::string_view name) {
  for (const auto formula : {ScoreFormula::points, ScoreFormula::points_strict, ScoreFormula::bounded}) {
    if (name == name_of(formula)) return formula;
  }
  return std::nullopt;
}

std::optional<double> counted_speedup(const TaskResult& result) {
  if (is_positive(result.speedup_ratio)) return result.speedup_ratio;
  if (result.speedup_calculation_error_message || result.not_measured.count("speedup_ratio") > 0)
    return std::nullopt;
  if (!is_positive(result.base_execution_time) || !is_positive(result.best_optimized_execution_time))
    return std::nullopt;
  const double ratio = *result.base_execution_time / *result.best_optimized_execution_time;
  return is_positive(ratio) ? std::optional(ratio) : std::nullopt;
}

double compute_score(ScoreFormula formula, const TaskResult& result) {
  switch (formula) {
    case ScoreFormula::points:
      return points(result, counted_speedup(result));
    case ScoreFormula::points_strict:
      return points(result, proved_speedup(result));
    case ScoreFormula::bounded: {
      const auto speedup = proved_speedup(result);
      if (!result.pass_compilation || !result.pass_correctness || !speedup) return 0;
      return std::max(0.0, 1 - kBreakEvenSpeedup / *speedup);
    }
  }
  return 0;
}

}  // namespace arena
