#include "worker/agent_record.h"

#include <algorithm>

#include "model/yaml.h"

namespace arena {

namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 62;

void write_count(YamlWriter& yaml, const char* key, const std::optional<std::int64_t>& count) {
  if (count) {
    yaml.integer(key, *count);
  } else {
    yaml.null(key);
  }
}

void write_usage(YamlWriter& yaml, const AgentUsage& usage) {
  if (usage.cost_usd) {
    yaml.number("cost_usd", *usage.cost_usd);
  } else {
    yaml.null("cost_usd");
  }
  write_count(yaml, "input_tokens", usage.input_tokens);
  write_count(yaml, "cached_tokens", usage.cached_tokens);
  write_count(yaml, "output_tokens", usage.output_tokens);
}

Result<AttemptCost> read_attempt(const YamlNode& node, const std::string& name) {
  MappingReader reader(node, name, "attempts");
  AttemptCost cost;
  cost.attempt = reader.required_integer("attempt", 1, kMost);
  cost.result = reader.string("result").value_or("");
  cost.model = reader.string("model").value_or("");
  cost.usage.cost_usd = reader.number("cost_usd");
  cost.usage.input_tokens = reader.integer("input_tokens", 0, kMost);
  cost.usage.cached_tokens = reader.integer("cached_tokens", 0, kMost);
  cost.usage.output_tokens = reader.integer("output_tokens", 0, kMost);
  cost.duration_ms = reader.integer("duration_ms", 0, kMost).value_or(0);
  ARENA_TRY(reader.finish(UnknownKeys::ignore, nullptr));
  return cost;
}

}  // namespace

AgentUsage CostRecord::total() const {
  AgentUsage sum;
  for (const AttemptCost& cost : attempts) sum.add(cost.usage);
  return sum;
}

std::string write_cost_record(const CostRecord& record) {
  YamlWriter yaml;
  yaml.string("task_name", record.task_name).string("agent", record.agent);
  yaml.comment("As the provider reported it; null: not reported.");
  yaml.begin_mapping("total");
  write_usage(yaml, record.total());
  yaml.end_mapping();
  yaml.begin_sequence("attempts");
  for (const AttemptCost& cost : record.attempts) {
    yaml.begin_item().integer("attempt", cost.attempt).string("result", cost.result);
    if (cost.model.empty()) {
      yaml.null("model");
    } else {
      yaml.string("model", cost.model);
    }
    write_usage(yaml, cost.usage);
    yaml.integer("duration_ms", cost.duration_ms).end_item();
  }
  return yaml.end_sequence().take();
}

Result<CostRecord> read_cost_record(std::string_view text, const std::string& name) {
  ARENA_ASSIGN(const YamlNode root, parse_yaml(text, name));
  MappingReader reader(root, name, "");
  CostRecord record;
  record.task_name = reader.required_string("task_name");
  record.agent = reader.string("agent").value_or("");
  const YamlNode* attempts = reader.node("attempts");
  ARENA_TRY(reader.finish(UnknownKeys::ignore, nullptr));
  if (attempts == nullptr || attempts->kind != YamlNode::Kind::sequence)
    return fail(ErrorCode::corrupt, "'" + name + "' has no list of attempts");
  for (const YamlNode& node : attempts->items) {
    ARENA_ASSIGN(AttemptCost cost, read_attempt(node, name));
    record.attempts.push_back(std::move(cost));
  }
  return record;
}

Result<CostRecord> add_cost(FileSystem& disk, const fs::path& file, const fs::path& copy,
                            const std::string& task_name, const std::string& agent, AttemptCost cost) {
  ARENA_TRY(make_directories(disk, file.parent_path()));
  CostRecord record;
  const auto text = disk.read(file);
  if (!text && text.error().code != ErrorCode::not_found) return fail(text.error());
  if (text) {
    if (auto before = read_cost_record(*text, file.string())) {
      record = std::move(*before);
    } else {
      ARENA_TRY(disk.rename(file, fs::path(file.string() + ".unreadable"), Replace::yes));
    }
  }
  record.task_name = task_name;
  record.agent = agent;
  std::erase_if(record.attempts, [&](const AttemptCost& one) { return one.attempt == cost.attempt; });
  record.attempts.push_back(std::move(cost));
  const std::string written = write_cost_record(record);
  ARENA_TRY(publish(disk, file, written, Sync::no, Replace::yes));
  ARENA_TRY(publish(disk, copy, written, Sync::no, Replace::yes));
  return record;
}

std::string write_invocation(const AgentRun& run, const AgentJudgement& judgement, const AgentSpec& spec,
                             const std::string& version, const std::string& model) {
  YamlWriter yaml;
  yaml.string("agent", spec.name).string_list("argv", run.argv);
  yaml.string("prompt", spec.prompt_on_stdin ? "prompt.md, on standard input" : "prompt.md, named in argv");
  yaml.string_list("environment", run.environment_names);
  const auto known_or_null = [&yaml](const char* key, const std::string& value) {
    if (value.empty()) {
      yaml.null(key);
    } else {
      yaml.string(key, value);
    }
  };
  known_or_null("version", version);
  known_or_null("model", model);
  yaml.string("end", describe(run.end))
      .string("result", name_of(judgement.result))
      .string("explanation", judgement.text)
      .integer("duration_ms", run.duration.count())
      .integer("events", run.reading.events)
      .integer("tool_calls", run.reading.tool_calls);
  yaml.string_list("notes", run.notes);
  return yaml.take();
}

}  // namespace arena
