#include "model/agent_spec.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "model/yaml.h"

namespace arena {

namespace {

constexpr std::string_view kArgvFromConfig = "agent.command";
constexpr std::array<std::string_view, 8> kSettings = {
    "model",          "effort",      "max_iterations", "timeout_seconds",
    "max_budget_usd", "python_path", "command",        "env"};

bool is_set(const AgentSettings& settings, std::string_view key) {
  if (key == "model") return settings.model.has_value();
  if (key == "effort") return settings.effort.has_value();
  if (key == "max_iterations") return settings.max_iterations.has_value();
  if (key == "timeout_seconds") return settings.timeout_seconds.has_value();
  if (key == "max_budget_usd") return settings.max_budget_usd.has_value();
  if (key == "python_path") return settings.python_path.has_value();
  if (key == "command") return !settings.command.empty();
  return !settings.env.empty();
}

void read_action(MappingReader& reader, AgentSpec& spec) {
  const std::string action = reader.required_string("action");
  if (action == "run") {
    spec.action = AgentSpec::Action::run;
  } else if (action == "apply_solution") {
    spec.action = AgentSpec::Action::apply_solution;
  } else if (action != "none") {
    reader.add_error(reader.line_of("action"), "action", "expected none, apply_solution or run");
  }
}

void read_argv(MappingReader& reader, AgentSpec& spec) {
  const YamlNode* node = reader.node("argv");
  if (node != nullptr) {
    spec.argv_from_config = node->scalar == kArgvFromConfig;
    if (const auto words = yaml_string_list(*node)) {
      spec.argv = *words;
    } else if (!spec.argv_from_config) {
      reader.add_error(reader.line_of("argv"), "argv",
                       fmt::format("expected a list of words, or {}", kArgvFromConfig));
    }
  }
  const bool has_program = spec.argv_from_config || (!spec.argv.empty() && !spec.argv[0].empty());
  const bool runs = spec.action == AgentSpec::Action::run;
  if (runs && !has_program)
    reader.add_error(reader.line_of("argv"), "argv", "the action run needs a program");
  if (!runs && node != nullptr) reader.add_error(reader.line_of("argv"), "argv", "belongs to the action run");
}

void read_environment(MappingReader& reader, AgentSpec& spec) {
  const YamlNode* node = reader.node("environment");
  if (node == nullptr) return;
  if (node->kind != YamlNode::Kind::mapping)
    return reader.add_error(reader.line_of("environment"), "environment", "expected names with values");
  for (const YamlEntry& entry : node->entries) {
    const auto value = yaml_string(entry.value);
    if (!value) return reader.add_error(entry.key_line, "environment", value.error().message);
    spec.environment[entry.key] = *value;
  }
}

}  // namespace

Result<AgentSpec> parse_agent_spec(std::string_view text, const std::string& name) {
  const std::string file = name + ".yaml";
  ARENA_ASSIGN(const YamlNode root, parse_yaml(text, file));
  MappingReader reader(root, file, "");
  AgentSpec spec;
  spec.name = name;
  spec.description = reader.required_string("description");
  read_action(reader, spec);
  read_argv(reader, spec);
  read_environment(reader, spec);
  spec.sees_solution = reader.boolean("sees_solution").value_or(false);
  spec.prompt_on_stdin = reader.boolean("prompt_on_stdin").value_or(false);
  spec.environment_names = reader.string_list("environment_names").value_or(std::vector<std::string>{});
  spec.accepted_settings = reader.string_list("accepted_settings").value_or(std::vector<std::string>{});
  for (const std::string& setting : spec.accepted_settings) {
    if (std::find(kSettings.begin(), kSettings.end(), setting) == kSettings.end()) {
      reader.add_error(reader.line_of("accepted_settings"), "accepted_settings",
                       fmt::format("'{}' is no setting; known are {}", to_printable_utf8(setting),
                                   fmt::join(kSettings, ", ")));
    }
  }
  spec.default_timeout_seconds =
      reader.integer("default_timeout_seconds", 0, std::numeric_limits<std::int32_t>::max())
          .value_or(spec.default_timeout_seconds);
  ARENA_TRY(reader.finish(UnknownKeys::error, nullptr));
  return spec;
}

PlaceholderValues setting_placeholders(const AgentSettings& settings) {
  PlaceholderValues values;
  if (settings.model) values["model"] = *settings.model;
  if (settings.effort) values["effort"] = *settings.effort;
  if (settings.max_iterations) values["max_iterations"] = std::to_string(*settings.max_iterations);
  if (settings.max_budget_usd) values["max_budget_usd"] = fmt::format("{}", *settings.max_budget_usd);
  if (settings.python_path) values["python_path"] = *settings.python_path;
  return values;
}

Status check_agent_settings(const AgentSpec& spec, const AgentSettings& settings) {
  const auto& accepted = spec.accepted_settings;
  for (const std::string_view key : kSettings) {
    if (!is_set(settings, key) || std::find(accepted.begin(), accepted.end(), key) != accepted.end())
      continue;
    return fail(ErrorCode::invalid_input,
                fmt::format("agent.{}: the agent '{}' does not take it (it takes {})", key, spec.name,
                            accepted.empty() ? "no settings" : fmt::format("{}", fmt::join(accepted, ", "))));
  }
  PlaceholderValues values = setting_placeholders(settings);
  for (const char* name : {"workspace", "prompt_file", "task_name"}) values[name] = "x";
  for (const std::string& word : spec.argv_from_config ? settings.command : spec.argv) {
    if (const auto expanded = expand_placeholders(word, values); !expanded) {
      return fail(ErrorCode::invalid_input,
                  fmt::format("agent '{}', its command line: {}", spec.name, expanded.error().message));
    }
  }
  return {};
}

}  // namespace arena
