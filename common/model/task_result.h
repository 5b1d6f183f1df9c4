#pragma once
// What one task came to: task_result.yaml. The keys of v0.2 come first and in its order; what was not
// measured is absent (v0.2's readers fail on null numbers) and a reason key says why. Ours follow, among them
// run, attempt and worker, which make the file evidence of exactly one attempt.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace arena {

// Frozen on disk: never rename.
enum class CauseClass { completed, task_error, agent_error, infra_error, timed_out, quota, cancelled };
std::string_view name_of(CauseClass cause);
std::optional<CauseClass> cause_class_from(std::string_view name);

struct AgentOutcome {
  std::string end;  // "exit code 0", "timed out after 60 s", "not run", …
  bool ok = false;
  std::string result;              // done, timed_out, failed, …: AgentResult (agent_spec.h)
  std::string model;               // as it said itself, else as configured; empty: unknown
  std::string version;             // of its program; empty: unknown
  std::optional<double> cost_usd;  // as the provider reported it, over all attempts at the task, else unknown
  std::optional<std::int64_t> tokens;  // likewise
  std::int64_t duration_ms = 0;
  bool from_earlier_attempt = false;  // the candidate was kept from an attempt whose agent had ended
};

struct TaskResult {
  // v0.2
  std::string task_name;
  bool pass_compilation = false;
  std::optional<std::string> compilation_error_message;
  bool pass_correctness = false;
  std::optional<std::string> correctness_error_message;
  std::optional<double> base_execution_time;            // ms, mean over cases
  std::optional<double> best_optimized_execution_time;  // ms, mean over cases ("best" is v0.2's word)
  std::optional<double> speedup_ratio;
  std::vector<std::string> baseline_benchmark_methods;
  std::vector<std::string> optimized_benchmark_methods;
  std::optional<bool> benchmark_method_consistent;
  std::optional<std::int64_t> valid_baseline_cases;
  std::optional<std::int64_t> valid_optimized_cases;
  std::optional<std::string> speedup_calculation_error_message;
  std::string optimization_summary;
  // v0.3
  std::vector<std::string> benchmark_method_mismatches;
  std::optional<bool> workload_consistent;
  std::vector<std::string> workload_mismatches;
  std::optional<bool> pass_tool_gate;  // of v0.3's results; arena has no tool gate and leaves it unset
  std::optional<bool> candidate_accepted;
  // arena
  std::optional<double> score;
  std::string score_formula;
  std::map<std::string, std::string> not_measured;  // key -> reason, for every number that is absent
  std::string run_id;
  std::int64_t attempt = 0;
  std::string worker_id;
  std::string task_digest;
  std::string device;                               // "cpu slot 0", or a GPU's PCI address with its partition
  std::map<std::string, std::string> device_facts;  // of a GPU: unique_id, name, arch, versions
  // Of a GPU: <side>_<quantity>_<min|median|max>, sides baseline and evaluation, quantities clock_mhz,
  // power_w, temperature_c; and <side>_samples.
  std::map<std::string, double> telemetry;
  std::map<std::string, std::string> throttling;  // side -> what held its clock down, "none" for nothing
  AgentOutcome agent;
  std::map<std::string, std::int64_t> durations_ms;  // phase -> milliseconds
  std::map<std::string, std::string> proofs;         // phase -> "no process left" and how it was seen
  std::vector<std::string> changed_files;            // taken over from the agent's tree into the evaluation
  std::vector<std::string> ignored_changes;  // changed by the agent, not its to change, not taken over
};

inline constexpr int kTaskResultSchemaVersion = 1;

// Sealed text (base/sealed_text.h). A number that is absent or not finite gets a reason in not_measured if it
// has none.
std::string write_task_result(const TaskResult& result);
// Our own file: the seal must fit, required keys be there with the right types.
Result<TaskResult> read_task_result(std::string_view text, const std::string& name);
// A result as v0.2 or v0.3 wrote it: no seal, missing keys allowed, lists of mappings as texts. For reports
// on old runs.
Result<TaskResult> read_foreign_task_result(std::string_view text, const std::string& name);
// Does `text` hold a whole result of exactly this attempt? The test that recovery uses.
bool is_result_of(std::string_view text, std::string_view run_id, std::string_view task_name,
                  std::int64_t attempt);

}  // namespace arena
