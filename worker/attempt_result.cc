#include "worker/attempt_result.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace arena {

namespace {

bool is_valid(const TimedCase& timed) { return std::isfinite(timed.time_ms) && timed.time_ms > 0; }

std::int64_t count_valid(const std::vector<TimedCase>& cases) {
  return std::count_if(cases.begin(), cases.end(), is_valid);
}

std::vector<std::string> methods_of(const std::vector<TimedCase>& cases) {
  std::set<std::string> methods;
  for (const TimedCase& timed : cases) {
    if (!timed.benchmark_method.empty()) methods.insert(timed.benchmark_method);
  }
  return {methods.begin(), methods.end()};
}

// Why the candidate has no timing.
std::string candidate_problem(const Verdict& verdict) {
  if (!verdict.compiled) return "the candidate does not compile";
  if (!verdict.correct) return "the candidate is not correct";
  return verdict.performance.problem;
}

void add_timing(const AttemptFacts& facts, TaskResult& result) {
  const std::vector<TimedCase>& baseline = facts.baseline.cases;
  const std::vector<TimedCase>& candidate = facts.verdict.performance.cases;
  const SpeedupResult timing = compute_speedup(baseline, candidate);
  const auto missing = [&result](const char* key, const std::string& reason) {
    result.not_measured[key] = reason;
  };

  result.base_execution_time = timing.baseline_mean_ms;
  if (!result.base_execution_time) {
    missing("base_execution_time",
            facts.baseline.problem.empty() ? "no valid baseline case" : facts.baseline.problem);
  }
  result.best_optimized_execution_time = timing.candidate_mean_ms;
  const std::string problem = candidate_problem(facts.verdict);
  if (!result.best_optimized_execution_time) {
    missing("best_optimized_execution_time", problem.empty() ? "no valid candidate case" : problem);
  }
  result.speedup_ratio = timing.speedup;
  if (!result.speedup_ratio) {
    const std::string reason = !problem.empty()                  ? problem
                               : !facts.baseline.problem.empty() ? "no baseline: " + facts.baseline.problem
                                                                 : timing.problem;
    missing("speedup_ratio", reason);
    // v0.2's key speaks of correct candidates only; for the others their own message says it.
    if (facts.verdict.correct) result.speedup_calculation_error_message = reason;
  }
  result.valid_baseline_cases = count_valid(baseline);
  result.valid_optimized_cases = count_valid(candidate);
  result.baseline_benchmark_methods = methods_of(baseline);
  result.optimized_benchmark_methods = methods_of(candidate);
  if (!timing.pairs.empty()) {
    result.benchmark_method_consistent = timing.method_consistent;
    result.benchmark_method_mismatches = timing.method_mismatches;
    result.workload_consistent = timing.workload_consistent;
    result.workload_mismatches = timing.workload_mismatches;
  }
}

// baseline_clock_mhz_median: 1980
void add_telemetry(const std::map<std::string, TelemetrySummary>& sides, TaskResult& result) {
  for (const auto& [side, summary] : sides) {
    const auto add = [&, side = side](const char* quantity, const std::optional<TelemetryRange>& range) {
      if (!range) return;
      const std::string start = side + "_" + quantity;
      result.telemetry[start + "_min"] = range->min;
      result.telemetry[start + "_median"] = range->median;
      result.telemetry[start + "_max"] = range->max;
    };
    result.telemetry[side + "_samples"] = static_cast<double>(summary.samples);
    add("clock_mhz", summary.clock_mhz);
    add("power_w", summary.power_w);
    add("temperature_c", summary.temperature_c);
    if (!summary.throttle) continue;
    std::string reasons;
    for (const std::string& reason : *summary.throttle) reasons += (reasons.empty() ? "" : ", ") + reason;
    result.throttling[side] = reasons.empty() ? "none" : reasons;
  }
}

}  // namespace

TaskResult make_result(const AttemptFacts& facts) {
  TaskResult result;
  const Verdict& verdict = facts.verdict;
  result.task_name = facts.task_name;
  result.pass_compilation = verdict.compiled;
  if (!verdict.compiled) result.compilation_error_message = verdict.compile_problem;
  result.pass_correctness = verdict.correct;
  if (!verdict.correct && verdict.compiled) result.correctness_error_message = verdict.correctness_problem;
  add_timing(facts, result);
  result.optimization_summary = "Optimized by " + facts.agent_name + " using centralized evaluator";

  result.run_id = facts.run_id;
  result.attempt = facts.attempt;
  result.worker_id = facts.worker_id;
  result.task_digest = facts.task_digest;
  result.device = facts.device;
  result.device_facts = facts.device_facts;
  add_telemetry(facts.telemetry, result);
  result.agent = facts.candidate.agent;
  result.durations_ms = facts.durations_ms;
  for (const auto& [phase, duration] : verdict.durations_ms) result.durations_ms[phase] = duration;
  result.proofs["agent"] = facts.candidate.proof;
  result.changed_files = facts.candidate.takeover.changed;
  result.changed_files.insert(result.changed_files.end(), facts.candidate.takeover.removed.begin(),
                              facts.candidate.takeover.removed.end());
  std::sort(result.changed_files.begin(), result.changed_files.end());
  result.ignored_changes = facts.candidate.takeover.ignored;
  result.score_formula = std::string(name_of(facts.formula));
  result.score = compute_score(facts.formula, result);
  return result;
}

}  // namespace arena
