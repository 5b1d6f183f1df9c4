#include <algorithm>
#include <array>
#include <csignal>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "model/agent_spec.h"
#include "model/agent_spec_schema.h"
#include "model/yaml.h"

namespace arena {

namespace {

constexpr std::string_view kArgvFromConfig = "agent.command";
constexpr std::int64_t kLongestStop = 18;
constexpr std::int64_t kMostSeconds = std::numeric_limits<std::int32_t>::max();

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

// A list of words and, for optional groups, of lists of words.
bool read_groups(const YamlNode& node, std::vector<ArgvGroup>& groups) {
  if (node.kind != YamlNode::Kind::sequence) return false;
  for (const YamlNode& item : node.items) {
    if (item.kind == YamlNode::Kind::sequence) {
      auto words = yaml_string_list(item);
      if (!words || words->empty()) return false;
      groups.emplace_back(std::move(*words));
    } else if (auto word = yaml_string(item)) {
      groups.emplace_back(std::move(*word));
    } else {
      return false;
    }
  }
  return true;
}

void read_argv(MappingReader& reader, AgentSpec& spec) {
  const YamlNode* node = reader.node("argv");
  if (node != nullptr) {
    spec.argv_from_config = node->scalar == kArgvFromConfig;
    if (!spec.argv_from_config && !read_groups(*node, spec.argv)) {
      reader.add_error(
          reader.line_of("argv"), "argv",
          fmt::format("expected a list of words and of groups of words, or {}", kArgvFromConfig));
    }
  }
  const bool has_program = spec.argv_from_config ||
                           (!spec.argv.empty() && !spec.argv[0].optional && !spec.argv[0].words[0].empty());
  const bool runs = spec.action == AgentSpec::Action::run;
  if (runs && !has_program)
    reader.add_error(reader.line_of("argv"), "argv", "the action run needs a program");
  if (!runs && node != nullptr) reader.add_error(reader.line_of("argv"), "argv", "belongs to the action run");
}

void read_prompt(MappingReader& reader, AgentSpec& spec) {
  const auto prompt = reader.string("prompt");
  if (!prompt) return;
  spec.prompt_on_stdin = *prompt == "stdin";
  if (*prompt != "stdin" && *prompt != "file")
    reader.add_error(reader.line_of("prompt"), "prompt", "expected stdin or file (argv names {prompt_file})");
}

void read_dialect(MappingReader& reader, AgentSpec& spec) {
  const std::string name = reader.string("dialect").value_or("plain");
  constexpr std::array<std::pair<std::string_view, AgentDialect>, 4> kDialects{
      {{"plain", AgentDialect::plain},
       {"claude", AgentDialect::claude},
       {"codex", AgentDialect::codex},
       {"cursor", AgentDialect::cursor}}};
  const auto* const found =
      std::find_if(kDialects.begin(), kDialects.end(), [&](const auto& one) { return one.first == name; });
  if (found == kDialects.end()) {
    reader.add_error(reader.line_of("dialect"), "dialect", "expected plain, claude, codex or cursor");
  } else {
    spec.dialect = found->second;
  }
  spec.final_events = reader.string_list("final_events").value_or(std::vector<std::string>{});
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

void read_accepted(MappingReader& reader, AgentSpec& spec) {
  spec.accepted_settings = reader.string_list("accepted_settings").value_or(std::vector<std::string>{});
  const auto& known = agent_setting_names();
  for (const std::string& setting : spec.accepted_settings) {
    if (std::find(known.begin(), known.end(), setting) == known.end()) {
      reader.add_error(reader.line_of("accepted_settings"), "accepted_settings",
                       fmt::format("'{}' is no setting; known are {}", to_printable_utf8(setting),
                                   fmt::join(known, ", ")));
    }
  }
}

// Calls `read` with a reader for the mapping `node` and hands its first error on.
template <class Read>
void read_mapping(MappingReader& parent, const YamlNode& node, std::string_view key, const std::string& file,
                  const Read& read) {
  MappingReader reader(node, file, std::string(key));
  read(reader);
  if (const Status status = reader.finish(UnknownKeys::error, nullptr); !status)
    parent.add_error(node.line, key, status.error().message);
}

template <class Read>
void read_each(MappingReader& parent, std::string_view key, const std::string& file, const Read& read) {
  const YamlNode* node = parent.node(key);
  if (node == nullptr || node->is_null()) return;
  if (node->kind != YamlNode::Kind::sequence)
    return parent.add_error(parent.line_of(key), key, "expected a list of mappings");
  for (const YamlNode& item : node->items) read_mapping(parent, item, key, file, read);
}

void read_defaults(MappingReader& parent, AgentSpec& spec, const std::string& file) {
  const YamlNode* node = parent.node("defaults");
  if (node == nullptr) return;
  read_mapping(parent, *node, "defaults", file, [&](MappingReader& reader) {
    spec.defaults.model = reader.string("model");
    spec.defaults.effort = reader.string("effort");
    spec.defaults.max_iterations = reader.integer("max_iterations", 1, 10'000);
    spec.defaults.gpu_ids = reader.string("gpu_ids");
    spec.defaults.num_parallel = reader.integer("num_parallel", 1, 1024);
    spec.defaults.run_mode = reader.string("run_mode");
  });
}

AgentCheck read_check(MappingReader& reader) {
  AgentCheck check;
  check.what = reader.string("what").value_or("");
  check.argv = reader.string_list("argv").value_or(std::vector<std::string>{});
  check.true_field = reader.string("true_field").value_or("");
  check.mend = reader.required_string("mend");
  if (check.argv.empty() || check.argv[0].empty())
    reader.add_error(reader.line_of("argv"), "argv", "the program is missing");
  return check;
}

void read_checks(MappingReader& parent, AgentSpec& spec, const std::string& file) {
  if (const YamlNode* node = parent.node("program"); node != nullptr) {
    read_mapping(parent, *node, "program", file, [&](MappingReader& reader) {
      spec.version_argv = reader.string_list("version_argv").value_or(std::vector<std::string>{});
      spec.program_mend = reader.required_string("mend");
    });
  }
  if (const YamlNode* node = parent.node("login"); node != nullptr) {
    read_mapping(parent, *node, "login", file,
                 [&](MappingReader& reader) { spec.login = read_check(reader); });
  }
  read_each(parent, "requires", file,
            [&](MappingReader& reader) { spec.requires_all.push_back(read_check(reader)); });
  spec.probe = parent.boolean("probe").value_or(false);
}

void read_files(MappingReader& parent, AgentSpec& spec, const std::string& file) {
  read_each(parent, "files", file, [&](MappingReader& reader) {
    AgentFile one;
    one.path = reader.required_string("path");
    one.login = reader.boolean("login").value_or(false);
    one.blank_keys = reader.string_list("blank_keys").value_or(std::vector<std::string>{});
    const auto parts = split(one.path, "/");
    if (one.path.starts_with("/") || std::find(parts.begin(), parts.end(), "..") != parts.end())
      reader.add_error(reader.line_of("path"), "path", "expected a path below the home directory");
    spec.files.push_back(std::move(one));
  });
}

void read_outcomes(MappingReader& parent, AgentSpec& spec, const std::string& file) {
  read_each(parent, "outcomes", file, [&](MappingReader& reader) {
    OutcomeRule rule;
    const auto outcome = agent_result_from(reader.required_string("outcome"));
    if (outcome != AgentResult::quota && outcome != AgentResult::auth && outcome != AgentResult::overload &&
        outcome != AgentResult::refusal && outcome != AgentResult::failed &&
        outcome != AgentResult::timed_out) {
      reader.add_error(reader.line_of("outcome"), "outcome",
                       "expected quota, auth, overload, refusal, timed_out or failed");
    }
    rule.outcome = outcome.value_or(AgentResult::failed);
    rule.event = reader.string("event").value_or("");
    rule.field = reader.string("field").value_or("");
    rule.equals = reader.string_list("equals").value_or(std::vector<std::string>{});
    rule.contains = reader.string_list("contains").value_or(std::vector<std::string>{});
    if (rule.equals.empty() == rule.contains.empty())
      reader.add_error(reader.line_of("outcome"), "outcome", "needs one of equals and contains");
    if (rule.event.empty() != rule.field.empty())
      reader.add_error(reader.line_of("event"), "event", "event and field go together");
    spec.outcomes.push_back(std::move(rule));
  });
}

void read_stop(MappingReader& parent, AgentSpec& spec, const std::string& file) {
  read_each(parent, "stop", file, [&](MappingReader& reader) {
    const std::string name = reader.required_string("signal");
    AgentStopStep step;
    step.signal = name == "INT" ? SIGINT : name == "TERM" ? SIGTERM : 0;
    step.wait_seconds = reader.integer("wait_seconds", 0, 600).value_or(step.wait_seconds);
    if (step.signal == 0)
      reader.add_error(reader.line_of("signal"), "signal", "expected INT or TERM; KILL always follows");
    spec.stop.push_back(step);
  });
  std::int64_t sum = 0;
  for (const AgentStopStep& step : spec.stop) sum += step.wait_seconds;
  if (sum > kLongestStop) {
    parent.add_error(parent.line_of("stop"), "stop",
                     fmt::format("the waits add up to more than {} s: a worker that is stopped has no more",
                                 kLongestStop));
  }
}

void read_timers(MappingReader& reader, AgentSpec& spec) {
  for (const auto& [key, value] : {std::pair("default_timeout_seconds", &spec.default_timeout_seconds),
                                   std::pair("idle_timeout_seconds", &spec.idle_timeout_seconds),
                                   std::pair("final_grace_seconds", &spec.final_grace_seconds),
                                   std::pair("overload_delay_seconds", &spec.overload_delay_seconds)}) {
    if (const auto seconds = reader.integer(key, 0, kMostSeconds)) *value = *seconds;
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
  read_prompt(reader, spec);
  read_dialect(reader, spec);
  read_environment(reader, spec);
  spec.sees_solution = reader.boolean("sees_solution").value_or(false);
  spec.environment_names = reader.string_list("environment_names").value_or(std::vector<std::string>{});
  spec.api_keys = reader.string_list("api_keys").value_or(std::vector<std::string>{});
  spec.container_mounts = reader.string_list("container_mounts").value_or(std::vector<std::string>{});
  read_accepted(reader, spec);
  read_defaults(reader, spec, file);
  read_checks(reader, spec, file);
  read_files(reader, spec, file);
  read_outcomes(reader, spec, file);
  read_stop(reader, spec, file);
  read_timers(reader, spec);
  ARENA_TRY(reader.finish(UnknownKeys::error, nullptr));
  return spec;
}

}  // namespace arena
