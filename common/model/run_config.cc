#include "model/run_config.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace arena {

namespace {

constexpr std::int64_t kMaximumSeconds = 7 * 24 * 3600;

// Keys of v0.3 and v0.4 that arena understands but cannot honour yet: said so, instead of calling them
// misspelt.
constexpr std::array<std::string_view, 6> kLaterKeys = {"budget",           "budget_mode",        "resources",
                                                        "evaluation_tools", "evaluation_profile", "workflow"};
constexpr std::array<std::string_view, 9> kLaterAgentKeys = {
    "backend",     "reasoning_effort", "max_tokens",          "protocol",           "base_url",
    "cli_version", "compile_timeout",  "correctness_timeout", "performance_timeout"};

template <std::size_t size>
void refuse_later_keys(MappingReader& reader, const std::array<std::string_view, size>& keys) {
  for (const std::string_view key : keys) {
    if (reader.node(key) != nullptr) reader.add_error(reader.line_of(key), key, "not supported yet");
  }
}

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// A part of a directory name: nothing that a path or a shell gives a meaning to.
bool is_name_part(std::string_view text) {
  return !text.empty() && text[0] != '.' && text[0] != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

bool is_variable_name(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_alphanumeric(c) || c == '_'; });
}

void read_name_part(MappingReader& reader, std::string_view key, std::string& value) {
  if (reader.node(key) == nullptr) return;
  value = reader.required_string(key);
  if (!is_name_part(value)) {
    reader.add_error(
        reader.line_of(key), key,
        fmt::format("'{}' becomes part of a directory name: use letters, digits, '.', '_', '-'", value));
  }
}

void read_seconds(MappingReader& reader, std::string_view key, std::chrono::seconds& value) {
  if (const auto seconds = reader.integer(key, 1, kMaximumSeconds)) value = std::chrono::seconds(*seconds);
}

std::optional<std::string> read_nonempty(MappingReader& reader, std::string_view key) {
  auto value = reader.string(key);
  if (value && value->empty()) reader.add_error(reader.line_of(key), key, "must not be empty");
  return value;
}

void read_command(MappingReader& reader, AgentSettings& agent) {
  if (const YamlNode* command = reader.node("command"); command != nullptr && !command->is_null()) {
    auto words = yaml_string_list(*command);
    if (words) {
      agent.command = std::move(*words);
      if (agent.command.empty() || agent.command[0].empty()) {
        reader.add_error(reader.line_of("command"), "command", "the first word, the program, is missing");
      }
    } else {
      reader.add_error(reader.line_of("command"), "command",
                       "expected a list of words, the program and its arguments");
    }
  }
  const bool is_command = agent.template_name == "command";
  if (is_command && agent.command.empty()) {
    reader.add_error(reader.line_of("template"), "command",
                     "required with the template 'command': the program and its arguments");
  } else if (!is_command && !agent.command.empty()) {
    reader.add_error(reader.line_of("command"), "command",
                     fmt::format("only the template 'command' takes it, not '{}'", agent.template_name));
  }
}

void read_env(MappingReader& reader, AgentSettings& agent) {
  agent.env = reader.string_list("env").value_or(std::vector<std::string>{});
  for (const std::string& variable : agent.env) {
    if (!is_variable_name(variable)) {
      reader.add_error(reader.line_of("env"), "env",
                       fmt::format("'{}' is not the name of a variable", to_printable_utf8(variable)));
    } else if (std::string_view(variable).substr(0, 6) == "ARENA_") {
      reader.add_error(reader.line_of("env"), "env",
                       fmt::format("'{}' is never handed to an agent", variable));
    }
  }
}

void read_gpu_settings(MappingReader& reader, AgentSettings& agent) {
  if (const auto ids = reader.string_list("gpu_ids")) {
    std::string text;
    for (const std::string& id : *ids) {
      for (const std::string& one : split(id, ", ")) {
        if (!parse_integer(one)) {
          reader.add_error(reader.line_of("gpu_ids"), "gpu_ids",
                           fmt::format("'{}' is not the number of a GPU", to_printable_utf8(one)));
        }
        text += (text.empty() ? "" : ",") + one;
      }
    }
    agent.gpu_ids = text;
  }
  agent.num_parallel = reader.integer("num_parallel", 1, 1024);
  agent.run_mode = read_nonempty(reader, "run_mode");
}

void read_budget_mode(MappingReader& reader, AgentSettings& agent) {
  const auto mode = reader.string("budget_mode");
  if (!mode) return;
  agent.time_budget = *mode == "time";
  if (!agent.time_budget)
    reader.add_error(reader.line_of("budget_mode"), "budget_mode", "the only mode is 'time'");
}

// Users write claude_code, claude-code or Claude_Code.
std::string read_template(MappingReader& reader) {
  std::string name = to_lower(trim(reader.required_string("template")));
  if (!is_name_part(name)) {
    reader.add_error(reader.line_of("template"), "template",
                     fmt::format("'{}' is not the name of an agent", to_printable_utf8(name)));
  }
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Result<AgentSettings> read_agent(const YamlNode& node, const std::string& name,
                                 std::vector<std::string>* warnings) {
  MappingReader reader(node, name, "agent");
  AgentSettings agent;
  agent.template_name = read_template(reader);
  agent.model = read_nonempty(reader, "model");
  agent.model_is_null = reader.is_explicit_null("model");
  agent.effort = read_nonempty(reader, "effort");
  agent.effort_is_null = reader.is_explicit_null("effort");
  agent.max_iterations = reader.integer("max_iterations", 1, 10'000);
  agent.max_iterations_is_null = reader.is_explicit_null("max_iterations");
  agent.timeout_seconds = reader.integer("timeout_seconds", 0, kMaximumSeconds);
  agent.max_budget_usd = reader.number("max_budget_usd");
  if (agent.max_budget_usd && !(*agent.max_budget_usd > 0 && std::isfinite(*agent.max_budget_usd))) {
    reader.add_error(reader.line_of("max_budget_usd"), "max_budget_usd", "expected a finite amount above 0");
  }
  agent.python_path = read_nonempty(reader, "python_path");
  read_command(reader, agent);
  read_env(reader, agent);
  read_budget_mode(reader, agent);
  read_gpu_settings(reader, agent);
  refuse_later_keys(reader, kLaterAgentKeys);
  ARENA_TRY(reader.finish(UnknownKeys::error, warnings));
  return agent;
}

void read_selectors(MappingReader& reader, RunConfig& config) {
  config.tasks = reader.string_list("tasks").value_or(std::vector<std::string>{});
  const bool has_empty = std::find(config.tasks.begin(), config.tasks.end(), "") != config.tasks.end();
  if (config.tasks.empty() || has_empty) {
    reader.add_error(reader.line_of("tasks"), "tasks",
                     "expected at least one task, folder of tasks or \"all\"");
  }
}

void read_score_formula(MappingReader& reader, RunConfig& config) {
  const auto text = reader.string("score_formula");
  if (!text) return;
  if (const auto formula = score_formula_from(*text)) {
    config.score_formula = *formula;
  } else {
    reader.add_error(reader.line_of("score_formula"), "score_formula",
                     fmt::format("unknown formula '{}'; known are points, points_strict, bounded",
                                 to_printable_utf8(*text)));
  }
}

// The agent's settings as both texts write them; what is absent stays absent.
void write_agent(YamlWriter& writer, const AgentSettings& agent) {
  writer.begin_mapping("agent").string("template", agent.template_name);
  if (agent.model) writer.string("model", *agent.model);
  if (agent.model_is_null) writer.null("model");
  if (agent.effort) writer.string("effort", *agent.effort);
  if (agent.effort_is_null) writer.null("effort");
  if (agent.max_iterations) writer.integer("max_iterations", *agent.max_iterations);
  if (agent.max_iterations_is_null) writer.null("max_iterations");
  if (agent.timeout_seconds) writer.integer("timeout_seconds", *agent.timeout_seconds);
  if (agent.max_budget_usd) writer.number("max_budget_usd", *agent.max_budget_usd);
  if (agent.python_path) writer.string("python_path", *agent.python_path);
  if (!agent.command.empty()) writer.string_list("command", agent.command);
  if (!agent.env.empty()) writer.string_list("env", agent.env);
  if (agent.time_budget) writer.string("budget_mode", "time");
  if (agent.gpu_ids) writer.string("gpu_ids", *agent.gpu_ids);
  if (agent.num_parallel) writer.integer("num_parallel", *agent.num_parallel);
  if (agent.run_mode) writer.string("run_mode", *agent.run_mode);
  writer.end_mapping();
}

void write_limits(YamlWriter& writer, const RunConfig& config) {
  writer.string("score_formula", name_of(config.score_formula))
      .integer("compile_timeout", config.compile_timeout.count())
      .integer("correctness_timeout", config.correctness_timeout.count())
      .integer("performance_timeout", config.performance_timeout.count())
      .integer("setup_timeout", config.setup_timeout.count());
}

void append_lines(const YamlNode& node, const std::string& key, std::vector<std::string>& lines) {
  if (node.kind == YamlNode::Kind::mapping) {
    for (const YamlEntry& entry : node.entries)
      append_lines(entry.value, key.empty() ? entry.key : key + "." + entry.key, lines);
  } else if (node.kind == YamlNode::Kind::sequence) {
    std::string list;
    for (const YamlNode& item : node.items) list += (list.empty() ? "" : ", ") + yaml_scalar(item.scalar);
    lines.push_back(fmt::format("{}: [{}]", key, list));
  } else {
    lines.push_back(fmt::format("{}: {}", key,
                                node.is_null() ? "null"
                                : node.quoted  ? yaml_scalar(node.scalar)
                                               : node.scalar));
  }
}

}  // namespace

Result<RunConfig> read_run_config(const YamlNode& root, const std::string& name,
                                  std::vector<std::string>* warnings) {
  MappingReader reader(root, name, "");
  RunConfig config;
  const YamlNode* agent = reader.node("agent");
  if (agent == nullptr) {
    reader.add_error(reader.line_of("agent"), "agent", "required, but missing");
  } else {
    auto settings = read_agent(*agent, name, warnings);
    if (!settings) return fail(settings.error());
    config.agent = std::move(*settings);
  }
  read_selectors(reader, config);
  read_name_part(reader, "target_gpu_model", config.target_gpu_model);
  read_name_part(reader, "workspace_directory_prefix", config.workspace_directory_prefix);
  if (const auto directory = read_nonempty(reader, "log_directory")) config.log_directory = *directory;
  read_score_formula(reader, config);
  config.max_attempts = reader.integer("max_attempts", 1, 100).value_or(config.max_attempts);
  config.max_evaluations = reader.integer("max_evaluations", 1, 100).value_or(config.max_evaluations);
  read_seconds(reader, "compile_timeout", config.compile_timeout);
  read_seconds(reader, "correctness_timeout", config.correctness_timeout);
  read_seconds(reader, "performance_timeout", config.performance_timeout);
  read_seconds(reader, "setup_timeout", config.setup_timeout);
  if (const auto limit = reader.integer("output_limit_bytes", 4096, 1 << 30))
    config.output_limit_bytes = static_cast<std::uint64_t>(*limit);
  refuse_later_keys(reader, kLaterKeys);
  ARENA_TRY(reader.finish(UnknownKeys::error, warnings));
  if (warnings != nullptr && !architecture_of_model(config.target_gpu_model)) {
    warnings->push_back(fmt::format(
        "{}:{}: target_gpu_model: the architecture of '{}' is not known here; tasks that require one are "
        "skipped unless a device names it",
        name, reader.line_of("target_gpu_model"), config.target_gpu_model));
  }
  return config;
}

Result<RunConfig> parse_run_config(std::string_view text, const std::string& name,
                                   std::vector<std::string>* warnings) {
  ARENA_ASSIGN(const YamlNode root, parse_yaml(text, name));
  return read_run_config(root, name, warnings);
}

std::string write_run_config(const RunConfig& config) {
  YamlWriter writer;
  write_agent(writer, config.agent);
  writer.string_list("tasks", config.tasks)
      .string("target_gpu_model", config.target_gpu_model)
      .string("log_directory", config.log_directory)
      .string("workspace_directory_prefix", config.workspace_directory_prefix);
  write_limits(writer, config);
  writer.integer("max_attempts", config.max_attempts)
      .integer("max_evaluations", config.max_evaluations)
      .integer("output_limit_bytes", static_cast<std::int64_t>(config.output_limit_bytes));
  return writer.take();
}

// What changes no result stays out: log and workspace names, how often to try, how much output to keep. The
// selectors are compared as the tasks that they select.
std::string canonical_text(const RunConfig& config) {
  YamlWriter writer;
  write_agent(writer, config.agent);
  writer.string("target_gpu_model", config.target_gpu_model);
  write_limits(writer, config);
  const auto root = parse_yaml(writer.take(), "canonical");
  ARENA_ASSERT(root);
  std::vector<std::string> lines;
  append_lines(*root, "", lines);
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

std::optional<std::string> architecture_of_model(std::string_view target_gpu_model) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kArchitectures{{{"MI300", "gfx942"},
                                                                                         {"MI300X", "gfx942"},
                                                                                         {"MI325", "gfx942"},
                                                                                         {"MI325X", "gfx942"},
                                                                                         {"MI355X", "gfx950"},
                                                                                         {"RDNA4", "gfx1201"},
                                                                                         {"CPU", ""}}};
  for (const auto& [model, architecture] : kArchitectures) {
    if (equals_ignoring_case(model, target_gpu_model)) return std::string(architecture);
  }
  return std::nullopt;
}

}  // namespace arena
