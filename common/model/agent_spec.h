#pragma once
// An agent as data: worker/agents/<name>.yaml. Adding an agent is writing a file, never code.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/placeholders.h"
#include "base/result.h"
#include "model/run_config.h"

namespace arena {

struct AgentSpec {
  std::string name;
  std::string description;
  enum class Action { none, apply_solution, run } action = Action::none;
  bool sees_solution = false;     // solution/ is part of its workspace (oracle only)
  std::vector<std::string> argv;  // placeholders {workspace}, {prompt_file}, {model}, {effort}, …
  bool argv_from_config = false;  // `argv: agent.command`
  bool prompt_on_stdin = false;
  std::vector<std::string> environment_names;      // allow-list besides the basic one
  std::map<std::string, std::string> environment;  // fixed values
  std::vector<std::string>
      accepted_settings;  // keys of AgentSettings that mean something to it; others are errors
  std::int64_t default_timeout_seconds = 3600;
};

// `name` is the agent's name; messages name the file as <name>.yaml.
Result<AgentSpec> parse_agent_spec(std::string_view text, const std::string& name);

// Placeholders that come from the configuration: {model}, {effort}, {max_iterations}, {max_budget_usd},
// {python_path}, each only if it is set. Beside them argv may name {workspace}, {prompt_file} and
// {task_name}.
PlaceholderValues setting_placeholders(const AgentSettings& settings);

// An error if `settings` asks for what this agent cannot take ("effort" for an agent without it), or if a
// word of its command line names a placeholder that has no value.
Status check_agent_settings(const AgentSpec& spec, const AgentSettings& settings);

}  // namespace arena
