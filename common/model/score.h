#pragma once
// Scores by formula. `points` is v0.2's, `points_strict` v0.3's (speedup counts only with consistent methods
// and workload), `bounded` v0.4's max(0, 1 - 1.05/speedup), without points for compiling or correctness.
// Sources: FORMATS of those versions.
#include <optional>
#include <string_view>

#include "model/task_result.h"

namespace arena {

enum class ScoreFormula { points, points_strict, bounded };  // names are frozen on disk
std::string_view name_of(ScoreFormula formula);
std::optional<ScoreFormula> score_formula_from(std::string_view name);

double compute_score(ScoreFormula formula, const TaskResult& result);  // never negative, never NaN

// The speedup that `points` and the reports count: speedup_ratio if it is finite and > 0, else base /
// optimized time as v0.2 reconstructs it, but only for a result that does not say why it has no speedup.
// Verdicts are not looked at.
std::optional<double> counted_speedup(const TaskResult& result);

}  // namespace arena
