#include "model/task_result.h"

#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/sealed_text.h"
#include "base/text.h"
#include "model/sealed_yaml.h"

namespace arena {

namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::array kCauses = {CauseClass::completed,   CauseClass::task_error, CauseClass::agent_error,
                                CauseClass::infra_error, CauseClass::timed_out,  CauseClass::quota,
                                CauseClass::cancelled};

// v0.2's readers want a number or no key at all. Whatever is left out is named with its reason.
class NumberWriter {
 public:
  NumberWriter(YamlWriter& yaml, const TaskResult& result) : yaml_(yaml), given_(result.not_measured) {}

  void number(const std::string& key, std::optional<double> value) {
    if (value && std::isfinite(*value)) {
      yaml_.number(key, *value);
    } else {
      leave_out(key, value ? "what was measured is not a finite number" : "no reason was recorded");
    }
  }
  void integer(const std::string& key, std::optional<std::int64_t> value) {
    if (value) {
      yaml_.integer(key, *value);
    } else {
      leave_out(key, "no reason was recorded");
    }
  }
  void boolean(const std::string& key, std::optional<bool> value) {
    if (value) {
      yaml_.boolean(key, *value);
    } else {
      leave_out(key, "no reason was recorded");
    }
  }
  const std::map<std::string, std::string>& reasons() const { return reasons_; }

 private:
  void leave_out(const std::string& key, std::string_view fallback) {
    const auto given = given_.find(key);
    reasons_[key] = given != given_.end() ? given->second : std::string(fallback);
  }
  YamlWriter& yaml_;
  const std::map<std::string, std::string>& given_;
  std::map<std::string, std::string> reasons_;
};

// Logs of several lines stay readable.
void write_message(YamlWriter& yaml, const char* key, const std::string& message) {
  if (message.find('\n') == std::string::npos) {
    yaml.string(key, message);
  } else {
    yaml.literal(key, message);
  }
}
void write_message_or_null(YamlWriter& yaml, const char* key, const std::optional<std::string>& message) {
  if (message) {
    write_message(yaml, key, *message);
  } else {
    yaml.null(key);
  }
}

void write_agent(YamlWriter& yaml, const AgentOutcome& agent) {
  yaml.begin_mapping("agent").string("end", agent.end).boolean("ok", agent.ok);
  if (!agent.result.empty()) yaml.string("result", agent.result);
  if (!agent.model.empty()) yaml.string("model", agent.model);
  if (!agent.version.empty()) yaml.string("version", agent.version);
  if (agent.cost_usd && std::isfinite(*agent.cost_usd)) yaml.number("cost_usd", *agent.cost_usd);
  if (agent.tokens) yaml.integer("tokens", *agent.tokens);
  yaml.integer("duration_ms", agent.duration_ms).boolean("from_earlier_attempt", agent.from_earlier_attempt);
  yaml.end_mapping();
}

AgentOutcome read_agent(const YamlNode* node, const std::string& name, MappingReader& parent) {
  AgentOutcome agent;
  if (node == nullptr) {
    parent.add_error(parent.line_of("agent"), "agent", "required, but missing");
    return agent;
  }
  MappingReader reader(*node, name, "agent");
  agent.end = reader.string("end").value_or("");
  agent.ok = reader.boolean("ok").value_or(false);
  agent.result = reader.string("result").value_or("");
  agent.model = reader.string("model").value_or("");
  agent.version = reader.string("version").value_or("");
  agent.cost_usd = reader.number("cost_usd");
  agent.tokens = reader.integer("tokens", 0, kLargest);
  agent.duration_ms = reader.integer("duration_ms", 0, kLargest).value_or(0);
  agent.from_earlier_attempt = reader.boolean("from_earlier_attempt").value_or(false);
  if (const auto status = reader.finish(UnknownKeys::ignore, nullptr); !status) {
    parent.add_error(node->line, "agent", status.error().message);
  }
  return agent;
}

template <class Value>
std::map<std::string, Value> read_map(MappingReader& reader, std::string_view key,
                                      Result<Value> (*convert)(const YamlNode&)) {
  std::map<std::string, Value> values;
  const YamlNode* node = reader.node(key);
  if (node == nullptr || node->is_null()) return values;
  if (node->kind != YamlNode::Kind::mapping) reader.add_error(node->line, key, "expected keys with values");
  for (const YamlEntry& entry : node->entries) {
    if (auto value = convert(entry.value)) {
      values[entry.key] = std::move(*value);
    } else {
      reader.add_error(entry.key_line, key, fmt::format("{}: {}", entry.key, value.error().message));
    }
  }
  return values;
}

// A text list as later versions write it: items may be mappings, and the list itself may be one.
std::string one_line(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::scalar) return node.scalar;
  std::string text;
  const auto add = [&](const std::string& piece) { text += (text.empty() ? "" : ", ") + piece; };
  for (const YamlNode& item : node.items) add(one_line(item));
  for (const YamlEntry& entry : node.entries) add(entry.key + ": " + one_line(entry.value));
  return text;
}
std::vector<std::string> read_texts(MappingReader& reader, std::string_view key) {
  std::vector<std::string> texts;
  const YamlNode* node = reader.node(key);
  if (node == nullptr || node->is_null()) return texts;
  if (node->kind == YamlNode::Kind::scalar) texts.push_back(node->scalar);
  for (const YamlNode& item : node->items) texts.push_back(one_line(item));
  for (const YamlEntry& entry : node->entries) texts.push_back(entry.key + ": " + one_line(entry.value));
  return texts;
}

// What v0.2's and v0.3's files and ours have in common.
void read_measured(MappingReader& reader, TaskResult& result) {
  result.task_name = reader.required_string("task_name");
  result.pass_compilation = reader.boolean("pass_compilation").value_or(false);
  result.compilation_error_message = reader.string("compilation_error_message");
  result.pass_correctness = reader.boolean("pass_correctness").value_or(false);
  result.correctness_error_message = reader.string("correctness_error_message");
  const auto finite = [&](const char* key) -> std::optional<double> {
    const auto value = reader.number(key);
    if (!value || std::isfinite(*value)) return value;
    result.not_measured[key] = "the file holds no finite number";
    return std::nullopt;
  };
  result.base_execution_time = finite("base_execution_time");
  result.best_optimized_execution_time = finite("best_optimized_execution_time");
  result.speedup_ratio = finite("speedup_ratio");
  result.baseline_benchmark_methods = read_texts(reader, "baseline_benchmark_methods");
  result.optimized_benchmark_methods = read_texts(reader, "optimized_benchmark_methods");
  result.benchmark_method_consistent = reader.boolean("benchmark_method_consistent");
  result.valid_baseline_cases = reader.integer("valid_baseline_cases", 0, kLargest);
  result.valid_optimized_cases = reader.integer("valid_optimized_cases", 0, kLargest);
  result.speedup_calculation_error_message = reader.string("speedup_calculation_error_message");
  result.optimization_summary = reader.string("optimization_summary").value_or("");
  result.score = finite("score");
  result.benchmark_method_mismatches = read_texts(reader, "benchmark_method_mismatches");
  result.workload_consistent = reader.boolean("workload_consistent");
  result.workload_mismatches = read_texts(reader, "workload_mismatches");
  result.pass_tool_gate = reader.boolean("pass_tool_gate");
  result.candidate_accepted = reader.boolean("candidate_accepted");
}

}  // namespace

std::string_view name_of(CauseClass cause) {
  switch (cause) {
    case CauseClass::completed:
      return "completed";
    case CauseClass::task_error:
      return "task_error";
    case CauseClass::agent_error:
      return "agent_error";
    case CauseClass::infra_error:
      return "infra_error";
    case CauseClass::timed_out:
      return "timed_out";
    case CauseClass::quota:
      return "quota";
    case CauseClass::cancelled:
      return "cancelled";
  }
  return "infra_error";
}

std::optional<CauseClass> cause_class_from(std::string_view name) {
  for (const CauseClass cause : kCauses) {
    if (name == name_of(cause)) return cause;
  }
  return std::nullopt;
}

std::string write_task_result(const TaskResult& result) {
  YamlWriter yaml;
  NumberWriter measured(yaml, result);
  yaml.string("task_name", result.task_name);
  yaml.boolean("pass_compilation", result.pass_compilation);
  write_message_or_null(yaml, "compilation_error_message", result.compilation_error_message);
  yaml.boolean("pass_correctness", result.pass_correctness);
  write_message_or_null(yaml, "correctness_error_message", result.correctness_error_message);
  measured.number("base_execution_time", result.base_execution_time);
  measured.number("best_optimized_execution_time", result.best_optimized_execution_time);
  measured.number("speedup_ratio", result.speedup_ratio);
  yaml.string_list("baseline_benchmark_methods", result.baseline_benchmark_methods);
  yaml.string_list("optimized_benchmark_methods", result.optimized_benchmark_methods);
  measured.boolean("benchmark_method_consistent", result.benchmark_method_consistent);
  measured.integer("valid_baseline_cases", result.valid_baseline_cases);
  measured.integer("valid_optimized_cases", result.valid_optimized_cases);
  if (result.speedup_calculation_error_message) {
    write_message(yaml, "speedup_calculation_error_message", *result.speedup_calculation_error_message);
  }
  yaml.string("optimization_summary", result.optimization_summary);
  measured.number("score", result.score);
  yaml.string_list("benchmark_method_mismatches", result.benchmark_method_mismatches);
  measured.boolean("workload_consistent", result.workload_consistent);
  yaml.string_list("workload_mismatches", result.workload_mismatches);
  if (result.pass_tool_gate) yaml.boolean("pass_tool_gate", *result.pass_tool_gate);
  if (result.candidate_accepted) yaml.boolean("candidate_accepted", *result.candidate_accepted);

  yaml.integer("schema_version", kTaskResultSchemaVersion);
  yaml.string("score_formula", result.score_formula);
  yaml.begin_mapping("not_measured");
  for (const auto& [key, reason] : measured.reasons()) yaml.string(key, reason);
  yaml.end_mapping();
  yaml.string("run_id", result.run_id)
      .integer("attempt", result.attempt)
      .string("worker_id", result.worker_id);
  yaml.string("task_digest", result.task_digest).string("device", result.device);
  if (!result.device_facts.empty()) {
    yaml.begin_mapping("device_facts");
    for (const auto& [key, value] : result.device_facts) yaml.string(key, value);
    yaml.end_mapping();
  }
  if (!result.telemetry.empty()) {
    yaml.begin_mapping("telemetry");
    for (const auto& [key, value] : result.telemetry) yaml.number(key, value);
    yaml.end_mapping();
  }
  if (!result.throttling.empty()) {
    yaml.begin_mapping("throttling");
    for (const auto& [side, reasons] : result.throttling) yaml.string(side, reasons);
    yaml.end_mapping();
  }
  write_agent(yaml, result.agent);
  yaml.begin_mapping("durations_ms");
  for (const auto& [phase, duration] : result.durations_ms) yaml.integer(phase, duration);
  yaml.end_mapping();
  yaml.begin_mapping("proofs");
  for (const auto& [phase, proof] : result.proofs) yaml.string(phase, proof);
  yaml.end_mapping();
  yaml.string_list("changed_files", result.changed_files);
  yaml.string_list("ignored_changes", result.ignored_changes);
  return seal(yaml.take());
}

Result<TaskResult> read_task_result(std::string_view text, const std::string& name) {
  ARENA_ASSIGN(const YamlNode document, parse_sealed_yaml(text, name));
  MappingReader reader(document, name, "");
  ARENA_TRY(check_schema_version(reader, name, kTaskResultSchemaVersion));
  TaskResult result;
  read_measured(reader, result);
  for (const char* key : {"pass_compilation", "pass_correctness", "attempt"}) {
    const YamlNode* node = reader.node(key);
    if (node == nullptr || node->is_null())
      reader.add_error(reader.line_of(key), key, "required, but missing");
  }
  result.score_formula = reader.string("score_formula").value_or("");
  result.run_id = reader.required_string("run_id");
  result.attempt = reader.integer("attempt", 0, kLargest).value_or(0);
  result.worker_id = reader.string("worker_id").value_or("");
  result.task_digest = reader.string("task_digest").value_or("");
  result.device = reader.string("device").value_or("");
  result.device_facts = read_map(reader, "device_facts", yaml_string);
  result.telemetry = read_map(reader, "telemetry", yaml_double);
  result.throttling = read_map(reader, "throttling", yaml_string);
  result.agent = read_agent(reader.node("agent"), name, reader);
  result.durations_ms = read_map(reader, "durations_ms", yaml_integer);
  result.proofs = read_map(reader, "proofs", yaml_string);
  result.changed_files = reader.string_list("changed_files").value_or(std::vector<std::string>{});
  result.ignored_changes = reader.string_list("ignored_changes").value_or(std::vector<std::string>{});
  result.not_measured = read_map(reader, "not_measured", yaml_string);
  ARENA_TRY(reader.finish(UnknownKeys::ignore, nullptr).map_error(as_corrupt));
  return result;
}

Result<TaskResult> read_foreign_task_result(std::string_view text, const std::string& name) {
  ARENA_ASSIGN(const YamlNode document, parse_yaml(text, name));
  MappingReader reader(document, name, "");
  TaskResult result;
  read_measured(reader, result);
  ARENA_TRY(reader.finish(UnknownKeys::ignore, nullptr));
  return result;
}

bool is_result_of(std::string_view text, std::string_view run_id, std::string_view task_name,
                  std::int64_t attempt) {
  const auto result = read_task_result(text, std::string(task_name));
  return result && result->run_id == run_id && result->task_name == task_name && result->attempt == attempt;
}

}  // namespace arena
