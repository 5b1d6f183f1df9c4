#include "model/task_descriptor.h"

#include <limits>

#include <fmt/format.h>

#include "base/sealed_text.h"
#include "model/sealed_yaml.h"

namespace arena {

namespace {

constexpr std::int64_t kMaximum = std::numeric_limits<std::int64_t>::max();
constexpr DescriptorStatus kStatuses[] = {DescriptorStatus::pending, DescriptorStatus::already_complete,
                                          DescriptorStatus::done, DescriptorStatus::failed};

void read_v02_keys(MappingReader& reader, TaskDescriptor& descriptor) {
  descriptor.index = reader.required_integer("index", 1, kMaximum);
  descriptor.total_tasks = reader.required_integer("total_tasks", 1, kMaximum);
  descriptor.task_name = reader.required_string("task_name");
  descriptor.task_config_dir = reader.required_string("task_config_dir");
  descriptor.workspace_path = reader.required_string("workspace_path");
  const std::string status = reader.required_string("status");
  bool known = false;
  for (const DescriptorStatus candidate : kStatuses) {
    if (name_of(candidate) != status) continue;
    descriptor.status = candidate;
    known = true;
  }
  if (!known)
    reader.add_error(reader.line_of("status"), "status", fmt::format("unknown status '{}'", status));
  descriptor.worker_id = reader.string("worker_id").value_or("");
}

void read_own_keys(MappingReader& reader, TaskDescriptor& descriptor) {
  descriptor.run_id = reader.required_string("run_id");
  descriptor.task_digest = reader.string("task_digest").value_or("");
  descriptor.attempt = reader.required_integer("attempt", 0, kMaximum);
  descriptor.uncounted = reader.required_integer("uncounted", 0, kMaximum);
  descriptor.evaluations = reader.required_integer("evaluations", 0, kMaximum);
  descriptor.claimed_by = reader.string("claimed_by").value_or("");
  descriptor.claimed_at = reader.string("claimed_at").value_or("");
  if (const auto cause = reader.string("cause")) {
    descriptor.cause = cause_class_from(*cause);
    if (!descriptor.cause)
      reader.add_error(reader.line_of("cause"), "cause", fmt::format("unknown cause class '{}'", *cause));
  }
  descriptor.cause_message = reader.string("cause_message").value_or("");
  descriptor.result_digest = reader.string("result_digest").value_or("");
}

void write_if_set(YamlWriter& writer, std::string_view key, const std::string& value) {
  if (!value.empty()) writer.string(key, value);
}

}  // namespace

std::string_view name_of(DescriptorStatus status) {
  switch (status) {
    case DescriptorStatus::pending:
      return "pending";
    case DescriptorStatus::already_complete:
      return "already_complete";
    case DescriptorStatus::done:
      return "done";
    case DescriptorStatus::failed:
      return "failed";
  }
  return "pending";
}

std::string write_descriptor(const TaskDescriptor& descriptor) {
  YamlWriter writer;
  writer.integer("index", descriptor.index)
      .integer("total_tasks", descriptor.total_tasks)
      .string("task_name", descriptor.task_name)
      .string("task_config_dir", descriptor.task_config_dir)
      .string("workspace_path", descriptor.workspace_path)
      .string("status", name_of(descriptor.status));
  write_if_set(writer, "worker_id", descriptor.worker_id);
  writer.integer("schema_version", kDescriptorSchemaVersion).string("run_id", descriptor.run_id);
  write_if_set(writer, "task_digest", descriptor.task_digest);
  writer.integer("attempt", descriptor.attempt)
      .integer("uncounted", descriptor.uncounted)
      .integer("evaluations", descriptor.evaluations);
  write_if_set(writer, "claimed_by", descriptor.claimed_by);
  write_if_set(writer, "claimed_at", descriptor.claimed_at);
  if (descriptor.cause) writer.string("cause", name_of(*descriptor.cause));
  write_if_set(writer, "cause_message", descriptor.cause_message);
  write_if_set(writer, "result_digest", descriptor.result_digest);
  return seal(writer.take());
}

Result<TaskDescriptor> read_descriptor(std::string_view text, const std::string& name) {
  ARENA_ASSIGN(const YamlNode root, parse_sealed_yaml(text, name));
  MappingReader reader(root, name, "");
  ARENA_TRY(check_schema_version(reader, name, kDescriptorSchemaVersion));
  TaskDescriptor descriptor;
  read_v02_keys(reader, descriptor);
  read_own_keys(reader, descriptor);
  ARENA_TRY(reader.finish(UnknownKeys::error, nullptr).map_error(as_corrupt));
  return descriptor;
}

Result<TaskDescriptor> read_foreign_descriptor(std::string_view text, const std::string& name) {
  ARENA_ASSIGN(const YamlNode root, parse_yaml(text, name).map_error(as_corrupt));
  MappingReader reader(root, name, "");
  TaskDescriptor descriptor;
  read_v02_keys(reader, descriptor);
  ARENA_TRY(reader.finish(UnknownKeys::ignore, nullptr).map_error(as_corrupt));
  return descriptor;
}

}  // namespace arena
