#include "coordinator/task_digests.h"

#include <string_view>
#include <unordered_map>

#include "coordinator/parallel.h"
#include "os/tree.h"

namespace arena {

namespace {

// The problem, or an empty text.
std::string digest_task(PlannedTask& task, const fs::path& directory, const CopyOptions& options,
                        const PlannedTask* known) {
  if (known != nullptr && !known->digest.empty()) {
    auto stat_digest = stat_digest_tree(directory, options);
    if (!stat_digest) return stat_digest.error().message;
    if (*stat_digest == known->stat_digest) {
      task.digest = known->digest;
      task.stat_digest = known->stat_digest;
      return {};
    }
  }
  auto digests = digests_of_tree(directory, options);
  if (!digests) return digests.error().message;
  task.digest = std::move(digests->contents);
  task.stat_digest = std::move(digests->stat);
  return {};
}

}  // namespace

void add_task_digests(RunPlan& plan, const fs::path& tasks_directory, const std::vector<PlannedTask>& known) {
  std::unordered_map<std::string_view, const PlannedTask*> by_name;
  for (const PlannedTask& task : known) by_name.emplace(task.name, &task);
  CopyOptions options;
  options.dereference_below = tasks_directory;
  std::vector<std::string> problems(plan.tasks.size());
  for_each_in_parallel(plan.tasks.size(), [&](std::size_t i) {
    PlannedTask& task = plan.tasks[i];
    if (plan.problems.count(task.name) != 0) return;
    const auto found = by_name.find(task.name);
    problems[i] = digest_task(task, tasks_directory / task.name, options,
                              found == by_name.end() ? nullptr : found->second);
  });
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (!problems[i].empty()) plan.problems[plan.tasks[i].name] = std::move(problems[i]);
  }
}

}  // namespace arena
