#include "coordinator/completion.h"

#include <fmt/format.h>
#include <unordered_map>

#include "base/sealed_text.h"
#include "base/text.h"
#include "model/task_descriptor.h"
#include "model/task_result.h"

namespace arena {

namespace {

// Empty: proven after all.
Result<std::string> doubt(const std::string& descriptor_text, const Result<std::string>& result_text,
                          const std::string& task_name, const RunRecord& record, const std::string& file) {
  if (!result_text) {
    if (result_text.error().code != ErrorCode::not_found) return fail(result_text.error());
    return std::string("its task_result.yaml is missing");
  }
  const auto descriptor = read_descriptor(descriptor_text, file);
  if (!descriptor) return descriptor.error().message;
  if (descriptor->status == DescriptorStatus::already_complete) return std::string();
  if (is_result_of(*result_text, record.run_id, task_name, descriptor->attempt)) return std::string();
  return std::string("its task_result.yaml is damaged or belongs to another attempt");
}

}  // namespace

std::string_view plain_value(std::string_view yaml, std::string_view key) {
  const std::string start = fmt::format("\n{}:", key);
  const std::size_t at = yaml.find(start);
  if (at == std::string_view::npos) return {};
  std::string_view value = yaml.substr(at + start.size());
  value = trim(value.substr(0, value.find('\n')));
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front()) {
    value = value.substr(1, value.size() - 2);
  }
  return value;
}

Result<std::vector<UnprovenEntry>> find_unproven(FileSystem& disk, const QueueLayout& layout,
                                                 const QueueSnapshot& snapshot, const RunRecord& record) {
  std::unordered_map<std::int64_t, const PlannedTask*> tasks;
  for (const PlannedTask& task : record.tasks) tasks.emplace(task.index, &task);
  std::vector<UnprovenEntry> unproven;
  const auto done = snapshot.entries.find(QueueState::done);
  if (done == snapshot.entries.end()) return unproven;
  for (const EntryName& entry : done->second) {
    const auto task = tasks.find(entry.index);
    if (task == tasks.end()) continue;  // reported by the queue check
    const fs::path file = layout.entry(QueueState::done, entry);
    ARENA_ASSIGN(const std::string descriptor, disk.read(file));
    const auto result = disk.read(layout.task_result(task->second->name));
    const std::string_view stated = plain_value(descriptor, "result_digest");
    if (result && !stated.empty() && stated == stated_seal(*result)) continue;
    ARENA_ASSIGN(std::string reason, doubt(descriptor, result, task->second->name, record, file.string()));
    if (!reason.empty()) unproven.push_back({entry, std::move(reason)});
  }
  return unproven;
}

}  // namespace arena
