#pragma once
// The run configuration (v0.2's YAML plus arena's own keys), parsed once into plain values. Unknown keys are
// errors.
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/score.h"
#include "model/yaml.h"

namespace arena {

// The `agent:` mapping. Explicit null (a flag to leave out) is kept apart from absent (use the agent's
// default).
struct AgentSettings {
  std::string template_name;  // normalized: lower case, '_' for '-'
  std::optional<std::string> model;
  bool model_is_null = false;
  std::optional<std::string> effort;
  bool effort_is_null = false;
  std::optional<std::int64_t> max_iterations;
  bool max_iterations_is_null = false;
  std::optional<std::int64_t> timeout_seconds;  // 0: none
  std::optional<double> max_budget_usd;
  std::optional<std::string> python_path;
  std::vector<std::string> command;  // agent `command`: argv, placeholders allowed
  std::vector<std::string> env;      // names of variables to hand through
  bool time_budget = false;  // `budget_mode: time`: the prompt names the seconds, not a number of versions
  // of agents that use GPUs themselves
  std::optional<std::string> gpu_ids;  // as the worker sees them: "0", "0,1"
  std::optional<std::int64_t> num_parallel;
  std::optional<std::string> run_mode;
};

struct RunConfig {
  AgentSettings agent;
  std::vector<std::string> tasks;  // selectors, at least one
  std::string target_gpu_model = "CPU";
  std::string log_directory = "logs";
  std::string workspace_directory_prefix = "workspace";
  ScoreFormula score_formula = ScoreFormula::points;
  std::int64_t max_attempts = 3;
  std::int64_t max_evaluations = 3;            // evaluations of one kept candidate, after infra_error
  std::chrono::seconds compile_timeout{3600};  // defaults for tasks that do not say
  std::chrono::seconds correctness_timeout{3600};
  std::chrono::seconds performance_timeout{3600};
  std::chrono::seconds setup_timeout{7200};
  std::uint64_t output_limit_bytes = 16 << 20;  // per command, kept beside the result
};

// `name` is the file's path for messages. All errors are invalid_input with file:line and key.
Result<RunConfig> parse_run_config(std::string_view text, const std::string& name,
                                   std::vector<std::string>* warnings);

// The same from a parsed node: the `config` mapping of a run record.
Result<RunConfig> read_run_config(const YamlNode& root, const std::string& name,
                                  std::vector<std::string>* warnings);

// The resolved, result-affecting values as `key: value` lines (sorted, no log paths, no comments): what a
// resume compares.
std::string canonical_text(const RunConfig& config);
// The whole configuration as YAML that parse_run_config reads back; goes into run.yaml.
std::string write_run_config(const RunConfig& config);

// Architecture of a GPU model name (MI300X -> gfx942, …; CPU -> empty); nothing if unknown. Table:
// FORMATS 1.2.
std::optional<std::string> architecture_of_model(std::string_view target_gpu_model);

}  // namespace arena
