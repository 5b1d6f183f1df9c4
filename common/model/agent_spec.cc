#include "model/agent_spec.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "model/agent_spec_schema.h"

namespace arena {

namespace {

constexpr std::array<std::pair<AgentResult, std::string_view>, 9> kResults{
    {{AgentResult::done, "done"},
     {AgentResult::done_without_change, "done_without_change"},
     {AgentResult::timed_out, "timed_out"},
     {AgentResult::failed, "failed"},
     {AgentResult::empty, "empty"},
     {AgentResult::refusal, "refusal"},
     {AgentResult::overload, "overload"},
     {AgentResult::quota, "quota"},
     {AgentResult::auth, "auth"}}};

bool is_setting(std::string_view name) {
  const auto& names = agent_setting_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_set(const AgentSettings& settings, std::string_view key) {
  if (key == "model") return settings.model.has_value();
  if (key == "effort") return settings.effort.has_value();
  if (key == "max_iterations") return settings.max_iterations.has_value();
  if (key == "timeout_seconds") return settings.timeout_seconds.has_value();
  if (key == "max_budget_usd") return settings.max_budget_usd.has_value();
  if (key == "python_path") return settings.python_path.has_value();
  if (key == "command") return !settings.command.empty();
  if (key == "env") return !settings.env.empty();
  if (key == "budget_mode") return settings.time_budget;
  if (key == "gpu_ids") return settings.gpu_ids.has_value();
  if (key == "num_parallel") return settings.num_parallel.has_value();
  ARENA_ASSERT(key == "run_mode");
  return settings.run_mode.has_value();
}

// Does the word name a setting that has no value? `{{` is a brace, not a placeholder.
bool names_unset_setting(std::string_view word, const PlaceholderValues& values) {
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '{') continue;
    if (i + 1 < word.size() && word[i + 1] == '{') {
      ++i;
      continue;
    }
    const std::size_t end = word.find('}', i);
    if (end == std::string_view::npos) return false;
    const std::string_view name = word.substr(i + 1, end - i - 1);
    if (is_setting(name) && !values.contains(name)) return true;
  }
  return false;
}

}  // namespace

std::string_view name_of(AgentResult result) {
  for (const auto& [value, name] : kResults) {
    if (value == result) return name;
  }
  ARENA_ASSERT(false);
}

std::optional<AgentResult> agent_result_from(std::string_view name) {
  for (const auto& [value, known] : kResults) {
    if (known == name) return value;
  }
  return std::nullopt;
}

const std::vector<std::string>& agent_setting_names() {
  static const std::vector<std::string> names = {
      "model",   "effort", "max_iterations", "timeout_seconds", "max_budget_usd", "python_path",
      "command", "env",    "budget_mode",    "gpu_ids",         "num_parallel",   "run_mode"};
  return names;
}

const std::vector<std::string>& place_placeholder_names() {
  static const std::vector<std::string> names = {"workspace",    "prompt_file", "task_name",    "task_type",
                                                 "architecture", "output_dir",  "first_source", "sources",
                                                 "functions",    "harness",     "home"};
  return names;
}

AgentSettings with_defaults(const AgentSpec& spec, AgentSettings settings) {
  const AgentSettings& defaults = spec.defaults;
  if (!settings.model && !settings.model_is_null) settings.model = defaults.model;
  if (!settings.effort && !settings.effort_is_null) settings.effort = defaults.effort;
  if (!settings.max_iterations && !settings.max_iterations_is_null)
    settings.max_iterations = defaults.max_iterations;
  if (!settings.timeout_seconds) settings.timeout_seconds = spec.default_timeout_seconds;
  if (!settings.gpu_ids) settings.gpu_ids = defaults.gpu_ids;
  if (!settings.num_parallel) settings.num_parallel = defaults.num_parallel;
  if (!settings.run_mode) settings.run_mode = defaults.run_mode;
  return settings;
}

PlaceholderValues setting_placeholders(const AgentSettings& settings) {
  PlaceholderValues values;
  if (settings.model) values["model"] = *settings.model;
  if (settings.effort) values["effort"] = *settings.effort;
  if (settings.max_iterations) values["max_iterations"] = std::to_string(*settings.max_iterations);
  if (settings.timeout_seconds) values["timeout_seconds"] = std::to_string(*settings.timeout_seconds);
  if (settings.max_budget_usd) values["max_budget_usd"] = fmt::format("{}", *settings.max_budget_usd);
  if (settings.python_path) values["python_path"] = *settings.python_path;
  if (settings.gpu_ids) values["gpu_ids"] = *settings.gpu_ids;
  if (settings.num_parallel) values["num_parallel"] = std::to_string(*settings.num_parallel);
  if (settings.run_mode) values["run_mode"] = *settings.run_mode;
  return values;
}

Result<std::vector<std::string>> make_agent_argv(const AgentSpec& spec, const AgentSettings& settings,
                                                 const PlaceholderValues& place) {
  const AgentSettings effective = with_defaults(spec, settings);
  PlaceholderValues values = setting_placeholders(effective);
  for (const auto& [name, value] : place) values[name] = value;
  std::vector<ArgvGroup> groups = spec.argv;
  if (spec.argv_from_config) groups.assign(settings.command.begin(), settings.command.end());
  std::vector<std::string> argv;
  for (const ArgvGroup& group : groups) {
    const bool left_out =
        group.optional && std::any_of(group.words.begin(), group.words.end(),
                                      [&](const auto& word) { return names_unset_setting(word, values); });
    if (left_out) continue;
    for (const std::string& word : group.words) {
      auto expanded = expand_placeholders(word, values);
      if (!expanded) {
        return fail(ErrorCode::invalid_input,
                    fmt::format("agent '{}', its command line: {}", spec.name, expanded.error().message));
      }
      argv.push_back(std::move(*expanded));
    }
  }
  return argv;
}

Status check_agent_settings(const AgentSpec& spec, const AgentSettings& settings) {
  const auto& accepted = spec.accepted_settings;
  for (const std::string& key : agent_setting_names()) {
    if (!is_set(settings, key) || std::find(accepted.begin(), accepted.end(), key) != accepted.end())
      continue;
    return fail(ErrorCode::invalid_input,
                fmt::format("agent.{}: the agent '{}' does not take it (it takes {})", key, spec.name,
                            accepted.empty() ? "no settings" : fmt::format("{}", fmt::join(accepted, ", "))));
  }
  PlaceholderValues place;
  for (const std::string& name : place_placeholder_names()) place[name] = "x";
  if (const auto argv = make_agent_argv(spec, settings, place); !argv) return fail(argv.error());
  return {};
}

}  // namespace arena
