#include "coordinator/descriptor_order.h"

namespace arena {

TaskDescriptor fresh_descriptor(const RunRecord& record, const QueueLayout& layout, const PlannedTask& task) {
  TaskDescriptor descriptor;
  descriptor.index = task.index;
  descriptor.total_tasks = static_cast<std::int64_t>(record.tasks.size());
  descriptor.task_name = task.name;
  // v0.2 writes the path of config.yaml here, relative to the folder that holds tasks/.
  const fs::path tasks(record.tasks_directory);
  descriptor.task_config_dir = (tasks.filename() / task.name / "config.yaml").string();
  descriptor.workspace_path = layout.workspace(task.name).string();
  descriptor.run_id = record.run_id;
  descriptor.task_digest = task.digest;
  return descriptor;
}

std::vector<TaskDescriptor> fresh_descriptors(const RunRecord& record, const QueueLayout& layout) {
  std::vector<TaskDescriptor> descriptors;
  descriptors.reserve(record.tasks.size());
  for (const PlannedTask& task : record.tasks) descriptors.push_back(fresh_descriptor(record, layout, task));
  return descriptors;
}

}  // namespace arena
