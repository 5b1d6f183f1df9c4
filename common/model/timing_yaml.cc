#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "model/timing_report.h"
#include "model/yaml.h"

namespace arena {

namespace {

// Shapes and params as JSON again, whichever YAML style they were written in.
nlohmann::json to_json(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return nullptr;
    case YamlNode::Kind::sequence: {
      auto list = nlohmann::json::array();
      for (const YamlNode& item : node.items) list.push_back(to_json(item));
      return list;
    }
    case YamlNode::Kind::mapping: {
      auto mapping = nlohmann::json::object();
      for (const YamlEntry& entry : node.entries) mapping[entry.key] = to_json(entry.value);
      return mapping;
    }
    case YamlNode::Kind::scalar:
      break;
  }
  if (node.quoted) return node.scalar;
  if (const auto integer = yaml_integer(node)) return *integer;
  if (const auto number = yaml_double(node); number && std::isfinite(*number)) return *number;
  if (equals_ignoring_case(node.scalar, "true")) return true;
  if (equals_ignoring_case(node.scalar, "false")) return false;
  return node.scalar;
}

std::string read_value(const YamlNode* node, std::string_view key, MappingReader& reader) {
  if (node == nullptr || node->is_null()) return {};
  auto text = canonical_json(to_json(*node).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  if (!text) reader.add_error(node->line, key, text.error().message);
  return text ? std::move(*text) : std::string();
}

Result<TimedCase> read_case(const YamlNode& node, std::size_t index, const std::string& name) {
  MappingReader reader(node, name, fmt::format("test_cases[{}]", index));
  TimedCase timed;
  timed.synthetic_id = reader.boolean("_synthetic_test_case_id").value_or(false);
  const auto id = reader.string("test_case_id");
  if (!id) timed.synthetic_id = true;
  timed.id = id ? *id : fmt::format("test_case_{}", index);
  timed.inverse_rate = reader.boolean("inverse_rate").value_or(false);
  if (const auto time = reader.number("execution_time_ms")) {
    set_time(timed, *time, kMilliseconds, "execution_time_ms");
  } else {
    timed.problem = "no time is recorded";
  }
  if (const auto problem = reader.string("problem"); problem && !problem->empty()) timed.problem = *problem;
  timed.shape = read_value(reader.node("shape"), "shape", reader);
  timed.params = read_value(reader.node("params"), "params", reader);
  timed.dtype = reader.string("dtype").value_or("");
  timed.benchmark_method = reader.string("benchmark_method").value_or("");
  timed.benchmark_fallback_reason = reader.string("benchmark_fallback_reason").value_or("");
  timed.method_disputed = !reader.boolean("benchmark_method_consistent").value_or(true);
  ARENA_TRY(reader.finish(UnknownKeys::ignore, nullptr));
  return timed;
}

}  // namespace

std::string write_perf_yaml(const std::vector<TimedCase>& cases) {
  YamlWriter yaml;
  yaml.begin_sequence("test_cases");
  for (const TimedCase& timed : cases) {
    yaml.begin_item();
    yaml.string("test_case_id", timed.id);
    // v0.2 reads an absent time as 0, and a value that is no time fails its comparison just as ours.
    if (timed.is_valid() || timed.time_ms != 0) yaml.number("execution_time_ms", timed.time_ms);
    if (!timed.shape.empty()) yaml.flow("shape", timed.shape);
    if (!timed.params.empty()) yaml.flow("params", timed.params);
    if (!timed.dtype.empty()) yaml.string("dtype", timed.dtype);
    if (!timed.benchmark_method.empty()) yaml.string("benchmark_method", timed.benchmark_method);
    if (!timed.benchmark_fallback_reason.empty()) {
      yaml.string("benchmark_fallback_reason", timed.benchmark_fallback_reason);
    }
    if (timed.method_disputed) yaml.boolean("benchmark_method_consistent", false);
    if (timed.inverse_rate) yaml.boolean("inverse_rate", true);
    if (timed.synthetic_id) yaml.boolean("_synthetic_test_case_id", true);
    if (!timed.problem.empty()) yaml.string("problem", timed.problem);
    yaml.end_item();
  }
  yaml.end_sequence();
  return yaml.take();
}

Result<std::vector<TimedCase>> read_perf_yaml(std::string_view text, const std::string& name) {
  ARENA_ASSIGN(const YamlNode document, parse_yaml(text, name));
  MappingReader reader(document, name, "");
  const YamlNode* list = reader.node("test_cases");
  ARENA_TRY(reader.finish(UnknownKeys::ignore, nullptr));
  std::vector<TimedCase> cases;
  if (list == nullptr || list->is_null()) return cases;
  if (list->kind != YamlNode::Kind::sequence) {
    return fail(ErrorCode::invalid_input,
                fmt::format("{}:{}: test_cases: expected a list", name, list->line));
  }
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    ARENA_ASSIGN(TimedCase timed, read_case(list->items[i], i, name));
    cases.push_back(std::move(timed));
  }
  return cases;
}

}  // namespace arena
