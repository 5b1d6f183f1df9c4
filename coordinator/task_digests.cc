#include "coordinator/task_digests.h"

#include "coordinator/parallel.h"

namespace arena {

CopyOptions copy_of_tasks(const fs::path& tasks_directory) {
  CopyOptions options;
  options.dereference_below = tasks_directory;
  return options;
}

void add_task_digests(RunPlan& plan, const fs::path& tasks_directory) {
  const CopyOptions options = copy_of_tasks(tasks_directory);
  std::vector<std::string> problems(plan.tasks.size());
  for_each_in_parallel(plan.tasks.size(), [&](std::size_t i) {
    PlannedTask& task = plan.tasks[i];
    if (!task.digest.empty() || plan.problems.count(task.name) != 0) return;
    auto digests = digests_of_tree(tasks_directory / task.name, options);
    if (digests) {
      task.digest = std::move(digests->contents);
      task.stat_digest = std::move(digests->stat);
    } else {
      problems[i] = digests.error().message;
    }
  });
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (!problems[i].empty()) plan.problems[plan.tasks[i].name] = std::move(problems[i]);
  }
}

}  // namespace arena
