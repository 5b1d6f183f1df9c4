// Runs of v0.2: no run.yaml, no seals, no ledger; results in child directories, descriptors perhaps.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "coordinator/report_input.h"
#include "model/task_descriptor.h"

namespace arena {

namespace {

constexpr std::string_view kRootStart = "workspace_";

void name_agent_and_gpu(const std::string& root, RunReportInput& input) {
  if (root.substr(0, kRootStart.size()) != kRootStart) return;
  const std::string rest = root.substr(kRootStart.size());
  const std::size_t end = rest.find('_');
  if (end == std::string::npos || end == 0 || end + 1 == rest.size()) return;
  input.target_gpu = rest.substr(0, end);
  input.agent = rest.substr(end + 1);
}

// What the descriptors know of tasks without a result.
void add_unfinished(FileSystem& disk, const QueueLayout& layout, const std::set<std::string>& known,
                    RunReportInput& input) {
  constexpr std::pair<QueueState, RowState> kStates[] = {{QueueState::pending, RowState::pending},
                                                         {QueueState::running, RowState::running},
                                                         {QueueState::done, RowState::done},
                                                         {QueueState::failed, RowState::failed}};
  for (const auto& [queue_state, row_state] : kStates) {
    const auto names = disk.list(layout.state_directory(queue_state));
    if (!names) continue;  // no queue: a serial run
    for (const std::string& name : *names) {
      const auto entry = parse_entry_name(name);
      if (!entry) continue;
      const fs::path file = layout.state_directory(queue_state) / name;
      const auto text = disk.read(file);
      const auto descriptor =
          text ? read_foreign_descriptor(*text, file.string()) : Result<TaskDescriptor>(fail(text.error()));
      if (!descriptor) {
        input.warnings.push_back(descriptor.error().message);
        continue;
      }
      if (known.count(descriptor->task_name) > 0) continue;
      ReportRow row;
      row.index = entry->index;
      row.task_name = descriptor->task_name;
      row.workspace = layout.workspace(row.task_name).filename().string();
      row.state = row_state;
      row.cause_message = "v0.2 left no task_result.yaml";
      row.worker_id = entry->worker_id;
      input.rows.push_back(std::move(row));
    }
  }
}

}  // namespace

Result<RunReportInput> load_foreign_report_input(FileSystem& disk, const QueueLayout& layout) {
  RunReportInput input;
  input.run_name = layout.run_name();
  name_agent_and_gpu(layout.run_directory().parent_path().filename().string(), input);
  ARENA_ASSIGN(auto children, disk.list(layout.run_directory()));
  std::sort(children.begin(), children.end());
  std::set<std::string> known;
  for (const std::string& child : children) {
    const fs::path file = layout.run_directory() / child / "task_result.yaml";
    const auto text = disk.read(file);
    if (!text) {
      if (text.error().code == ErrorCode::denied) input.warnings.push_back(text.error().message);
      continue;
    }
    ReportRow row;
    row.workspace = child;
    row.state = RowState::done;
    auto result = read_foreign_task_result(*text, file.string());
    if (result) {
      row.task_name = result->task_name;
      row.cause = CauseClass::completed;
      row.result = std::make_shared<const TaskResult>(std::move(*result));
      known.insert(row.task_name);
    } else {
      input.warnings.push_back(result.error().message);
      row.task_name = child;  // the real name stands in the file
      row.cause_message = "its result cannot be read: " + result.error().message;
    }
    input.rows.push_back(std::move(row));
  }
  add_unfinished(disk, layout, known, input);
  if (input.rows.empty()) {
    return fail(ErrorCode::not_found, fmt::format("'{}' holds neither a run.yaml nor any task_result.yaml",
                                                  layout.run_directory().string()));
  }
  return input;
}

}  // namespace arena
