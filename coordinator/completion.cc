#include "coordinator/completion.h"

#include <fmt/format.h>
#include <unordered_map>

#include "base/sealed_text.h"
#include "base/text.h"
#include "coordinator/parallel.h"
#include "model/task_descriptor.h"
#include "model/task_result.h"

namespace arena {

namespace {

// Why the entry in `file` is not done; empty if it is.
Result<std::string> doubt(FileSystem& disk, const fs::path& file, const fs::path& result_file,
                          const std::string& task_name, const RunRecord& record) {
  ARENA_ASSIGN(const std::string text, disk.read(file));
  const auto result = disk.read(result_file);
  const std::string_view stated = plain_value(text, "result_digest");
  if (result && !stated.empty() && stated == stated_seal(*result)) return std::string();
  if (!result) {
    if (result.error().code != ErrorCode::not_found) return fail(result.error());
    return std::string("its task_result.yaml is missing");
  }
  const auto descriptor = read_descriptor(text, file.string());
  if (!descriptor) return descriptor.error().message;
  if (descriptor->status == DescriptorStatus::already_complete) return std::string();
  if (is_result_of(*result, record.run_id, task_name, descriptor->attempt)) return std::string();
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
  const auto done = snapshot.entries.find(QueueState::done);
  if (done == snapshot.entries.end()) return std::vector<UnprovenEntry>();
  const std::vector<EntryName>& entries = done->second;
  std::vector<Result<std::string>> doubts(entries.size());
  for_each_in_parallel(entries.size(), [&](std::size_t i) {
    const auto task = tasks.find(entries[i].index);
    if (task == tasks.end()) return;  // reported by the queue check
    doubts[i] = doubt(disk, layout.entry(QueueState::done, entries[i]),
                      layout.task_result(task->second->name), task->second->name, record);
  });
  std::vector<UnprovenEntry> unproven;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ARENA_ASSIGN(std::string reason, std::move(doubts[i]));
    if (!reason.empty()) unproven.push_back({entries[i], std::move(reason)});
  }
  return unproven;
}

}  // namespace arena
