#include "worker/evaluation.h"

#include <fmt/format.h>

#include "base/text.h"
#include "worker/kernel_stub.h"

namespace arena {

namespace {

bool is_torch2hip(const TaskSpec& spec) { return spec.task_type == "torch2hip"; }

std::string object_to_output(const CommandRun& run) {
  if (!reads_as_failure(run.output)) return "";
  return "the command exited with 0, but its output says 'fail' and never 'pass'\n" +
         to_printable_utf8(trim(run.output).substr(0, 4096));
}

class Stopwatch {
 public:
  Stopwatch(Clock& clock, std::int64_t& result)
      : clock_(clock), result_(result), start_(clock.steady_now()) {}
  ~Stopwatch() {
    result_ = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.steady_now() - start_).count();
  }

 private:
  Clock& clock_;
  std::int64_t& result_;
  SteadyTime start_;
};

Result<std::string> check_correctness(TaskCommands& commands, const TaskSpec& spec,
                                      const PhaseLimits& limits) {
  if (spec.correctness_commands.empty()) return std::string("the task has no correctness command");
  if (spec.task_type == "torch2flydsl") {
    if (std::string problem = find_kernel_stubs(commands.directory(), spec); !problem.empty()) return problem;
  }
  return commands.run_all(spec.correctness_commands, "correctness", limits.correctness, object_to_output);
}

}  // namespace

PhaseLimits limits_of(const TaskSpec& spec, const RunConfig& config) {
  return {spec.compile_timeout.value_or(config.compile_timeout),
          spec.correctness_timeout.value_or(config.correctness_timeout),
          spec.performance_timeout.value_or(config.performance_timeout)};
}

bool reads_as_failure(std::string_view output) {
  const std::string lower = to_lower(output);
  return contains(lower, "fail") && !contains(lower, "pass");
}

Result<Verdict> evaluate_candidate(TaskCommands& commands, const TaskSpec& spec, const PhaseLimits& limits,
                                   Clock& clock) {
  Verdict verdict;
  {
    const Stopwatch watch(clock, verdict.durations_ms["compile"]);
    ARENA_ASSIGN(verdict.compile_problem, commands.run_all(spec.compile_commands, "compile", limits.compile));
  }
  verdict.compiled = verdict.compile_problem.empty();
  if (!verdict.compiled) return verdict;
  {
    const Stopwatch watch(clock, verdict.durations_ms["correctness"]);
    ARENA_ASSIGN(verdict.correctness_problem, check_correctness(commands, spec, limits));
  }
  verdict.correct = verdict.correctness_problem.empty();
  if (!verdict.correct) return verdict;
  const Stopwatch watch(clock, verdict.durations_ms["performance"]);
  ARENA_ASSIGN(verdict.performance, measure(commands, spec.performance_commands, "performance",
                                            limits.performance, {TimedSide::candidate, is_torch2hip(spec)}));
  return verdict;
}

Result<Measurement> measure_baseline(TaskCommands& commands, const TaskSpec& spec,
                                     const PhaseLimits& limits) {
  std::vector<std::string> lines = spec.performance_commands;
  if (is_torch2hip(spec)) {
    for (std::string& line : lines) line += " --baseline_only";
  } else {
    ARENA_ASSIGN(const std::string problem,
                 commands.run_all(spec.compile_commands, "baseline_compile", limits.compile));
    if (!problem.empty()) return Measurement{{}, "the baseline does not compile: " + problem};
  }
  return measure(commands, lines, "baseline_performance", limits.performance,
                 {TimedSide::baseline, is_torch2hip(spec)});
}

}  // namespace arena
