#include "model/run_record.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/sealed_text.h"
#include "base/text.h"
#include "model/sealed_yaml.h"

namespace arena {

namespace {

// The plan's blocks end the file. They are cut off and read line by line: YAML parsers are slow on long
// blocks.
constexpr std::string_view kTasksBlock = "\ntasks: |\n";
constexpr std::string_view kSkippedBlock = "\nskipped: |\n";
constexpr std::string_view kIndent = "  ";
constexpr std::string_view kNoDigest = "-";

std::string one_line(std::string_view text) {
  std::string line = to_printable_utf8(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return line;
}

std::string_view digest_text(const std::string& digest) {
  return digest.empty() ? kNoDigest : std::string_view(digest);
}

void append_indented(std::string& text, std::string_view block) {
  while (!block.empty()) {
    const std::size_t end = block.find('\n') + 1;
    text += kIndent;
    text += block.substr(0, end);
    block.remove_prefix(end);
  }
}

// Takes the next word and the blank behind it.
std::string_view next_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

std::string digest_from(std::string_view word) {
  return word == kNoDigest ? std::string() : std::string(word);
}

Error broken_line(std::string_view line, const std::string& name) {
  return {ErrorCode::corrupt, fmt::format("'{}' has a line of the plan that cannot be read: '{}'", name,
                                          to_printable_utf8(line))};
}

// Calls `read` for each line of a block without its indentation, until it answers false.
template <class Read>
Status for_each_line(std::string_view block, const std::string& name, Read read) {
  while (!block.empty()) {
    const std::size_t end = std::min(block.find('\n'), block.size());
    std::string_view line = block.substr(0, end);
    block.remove_prefix(std::min(end + 1, block.size()));
    const bool is_indented = line.substr(0, kIndent.size()) == kIndent;
    if (!is_indented || !read(line.substr(kIndent.size()))) return fail(broken_line(line, name));
  }
  return {};
}

Status read_tasks(std::string_view block, const std::string& name, std::vector<PlannedTask>& tasks) {
  tasks.reserve(static_cast<std::size_t>(std::count(block.begin(), block.end(), '\n')));
  return for_each_line(block, name, [&](std::string_view line) {
    const auto index = parse_integer(next_word(line));
    const std::string_view digest = next_word(line);
    const std::string_view stat_digest = next_word(line);
    if (!index || *index < 1 || digest.empty() || stat_digest.empty() || line.empty()) return false;
    tasks.push_back({*index, std::string(line), digest_from(digest), digest_from(stat_digest)});
    return true;
  });
}

Status read_skipped(std::string_view block, const std::string& name, std::vector<SkippedTask>& skipped) {
  return for_each_line(block, name, [&](std::string_view line) {
    const std::size_t tab = line.find('\t');
    if (tab == 0 || tab == std::string_view::npos) return false;
    skipped.push_back({std::string(line.substr(0, tab)), std::string(line.substr(tab + 1))});
    return true;
  });
}

void read_config(MappingReader& reader, const std::string& name, RunRecord& record) {
  const YamlNode* node = reader.node("config");
  if (node == nullptr) return reader.add_error(reader.line_of("config"), "config", "required, but missing");
  auto config = read_run_config(*node, name, nullptr);
  if (!config) return reader.add_error(node->line, "config", config.error().message);
  record.config = std::move(*config);
}

void read_tool_versions(MappingReader& reader, RunRecord& record) {
  const YamlNode* node = reader.node("tool_versions");
  if (node == nullptr) return;
  for (const YamlEntry& entry : node->entries) record.tool_versions[entry.key] = entry.value.scalar;
}

}  // namespace

std::string write_run_record(const RunRecord& record) {
  YamlWriter writer;
  writer.integer("schema_version", kRunSchemaVersion)
      .string("run_id", record.run_id)
      .string("run_name", record.run_name)
      .string("created_at", record.created_at)
      .string("arena_version", record.arena_version)
      .string("config_file", record.config_file)
      .string("tasks_directory", record.tasks_directory)
      .string("launcher", record.launcher)
      .string_list("devices", record.devices)
      .string_list("device_details", record.device_details)
      .string("architecture", record.architecture)
      .string("config_digest", record.config_digest)
      .begin_mapping("tool_versions");
  for (const auto& [tool, version] : record.tool_versions) writer.string(tool, version);
  writer.end_mapping();
  std::string text = writer.take();
  text += "config:\n";
  append_indented(text, write_run_config(record.config));
  text += "# The plan, a task a line: index, digest of the task, digest of its files' sizes and times, name.";
  text += kTasksBlock;
  for (const PlannedTask& task : record.tasks) {
    text += fmt::format("{}{} {} {} {}\n", kIndent, task.index, digest_text(task.digest),
                        digest_text(task.stat_digest), one_line(task.name));
  }
  text += "# What was selected but not planned, and why.";
  text += kSkippedBlock;
  for (const SkippedTask& task : record.skipped)
    text += fmt::format("{}{}\t{}\n", kIndent, one_line(task.name), one_line(task.reason));
  return seal(std::move(text));
}

Result<RunRecord> read_run_record(std::string_view text, const std::string& name) {
  ARENA_ASSIGN(const std::string_view body, unseal(text, name));
  const std::size_t tasks_begin = body.find(kTasksBlock);
  const std::size_t skipped_begin = body.rfind(kSkippedBlock);
  if (tasks_begin == std::string_view::npos || skipped_begin == std::string_view::npos ||
      skipped_begin < tasks_begin) {
    return fail(ErrorCode::corrupt, fmt::format("'{}' has no plan", name));
  }
  ARENA_ASSIGN(const YamlNode root, parse_yaml(body.substr(0, tasks_begin + 1), name).map_error(as_corrupt));
  MappingReader reader(root, name, "");
  ARENA_TRY(check_schema_version(reader, name, kRunSchemaVersion));
  RunRecord record;
  record.run_id = reader.required_string("run_id");
  record.run_name = reader.required_string("run_name");
  record.created_at = reader.string("created_at").value_or("");
  record.arena_version = reader.string("arena_version").value_or("");
  record.config_file = reader.string("config_file").value_or("");
  record.tasks_directory = reader.required_string("tasks_directory");
  record.launcher = reader.string("launcher").value_or("");
  record.devices = reader.string_list("devices").value_or(std::vector<std::string>{});
  record.device_details = reader.string_list("device_details").value_or(std::vector<std::string>{});
  record.architecture = reader.string("architecture").value_or("");
  record.config_digest = reader.string("config_digest").value_or("");
  read_tool_versions(reader, record);
  read_config(reader, name, record);
  ARENA_TRY(reader.finish(UnknownKeys::error, nullptr).map_error(as_corrupt));

  // The comment line in front of "skipped:" belongs to neither block.
  std::string_view tasks =
      body.substr(tasks_begin + kTasksBlock.size(), skipped_begin + 1 - tasks_begin - kTasksBlock.size());
  tasks = tasks.substr(0, tasks.rfind('#'));
  ARENA_TRY(read_tasks(tasks, name, record.tasks));
  ARENA_TRY(read_skipped(body.substr(skipped_begin + kSkippedBlock.size()), name, record.skipped));
  return record;
}

}  // namespace arena
