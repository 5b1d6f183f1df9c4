#pragma once
// The verdict on one candidate, and the measurement of the baseline: compile, correctness, performance, each
// with its own limit and log. A kernel that does not compile or is wrong is a verdict, not an error.
#include <map>

#include "model/run_config.h"
#include "model/task_spec.h"
#include "os/clock.h"
#include "worker/measurement.h"

namespace arena {

// The task's own limits, else the run's.
struct PhaseLimits {
  std::chrono::milliseconds compile{0}, correctness{0}, performance{0};
};
PhaseLimits limits_of(const TaskSpec& spec, const RunConfig& config);

struct Verdict {
  bool compiled = false;
  std::string compile_problem;  // why not
  bool correct = false;
  std::string correctness_problem;  // why not
  Measurement performance;          // of a correct candidate only
  std::map<std::string, std::int64_t> durations_ms;
};

// In the directory of `commands`, which holds the pristine task with the candidate's files.
Result<Verdict> evaluate_candidate(TaskCommands& commands, const TaskSpec& spec, const PhaseLimits& limits,
                                   Clock& clock);

// In the directory of `commands`, which holds the pristine task: compile, then performance. torch2hip, whose
// kernel does not exist yet, is not compiled; its performance command times the original with
// --baseline_only.
Result<Measurement> measure_baseline(TaskCommands& commands, const TaskSpec& spec, const PhaseLimits& limits);

// v0.2's reading of a correctness command that exited with 0: "fail" in its output without any "pass" is a
// failure.
bool reads_as_failure(std::string_view output);

}  // namespace arena
