#include "coordinator/run_plan.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "queue/queue_layout.h"

namespace arena {

namespace {

// A slug gets up to 50 bytes around it in the names of descriptors and of their temporary files; a name has
// 255.
constexpr std::size_t kMaximumSlug = 200;

std::string skip_reason(const CatalogTask& task, std::string_view architecture) {
  if (!task.problem.empty() || !task.digest.empty()) return {};
  if (std::string reason = platform_skip_reason(task.spec.platform, architecture); !reason.empty())
    return reason;
  return task.spec.unsupported;
}

// Remembers which task has a slug; the error names both tasks of a collision.
class SlugRegister {
 public:
  Status add(std::string slug, const std::string& task_name) {
    if (slug.size() > kMaximumSlug) {
      return fail(
          ErrorCode::invalid_input,
          fmt::format("the name of task '{}' is too long for a file name: rename its directory", task_name));
    }
    const auto [found, is_new] = tasks_.emplace(std::move(slug), task_name);
    if (is_new) return {};
    return fail(
        ErrorCode::invalid_input,
        fmt::format("tasks '{}' and '{}' would both be called '{}' on disk: rename one of their directories",
                    found->second, task_name, found->first));
  }

 private:
  std::unordered_map<std::string, std::string> tasks_;
};

std::vector<std::string> result_affecting_lines(const RunRecord& record) {
  std::vector<std::string> lines = split(canonical_text(record.config), "\n");
  lines.push_back("architecture: " + record.architecture);
  std::sort(lines.begin(), lines.end());
  return lines;
}

// Lines that only one of the two sorted lists has, marked as in a diff.
std::vector<std::string> differing_lines(const std::vector<std::string>& old_lines,
                                         const std::vector<std::string>& new_lines) {
  std::vector<std::pair<std::string, std::string>>
      marked;  // by key, so that old and new value stand together
  const auto mark = [&](const std::vector<std::string>& from, const std::vector<std::string>& without,
                        const char* sign) {
    std::vector<std::string> only;
    std::set_difference(from.begin(), from.end(), without.begin(), without.end(), std::back_inserter(only));
    for (const std::string& line : only) marked.emplace_back(line.substr(0, line.find(':')), sign + line);
  };
  mark(old_lines, new_lines, "- ");
  mark(new_lines, old_lines, "+ ");
  std::stable_sort(marked.begin(), marked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> lines;
  lines.reserve(marked.size());
  for (auto& [key, line] : marked) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

Result<RunPlan> make_run_plan(const std::vector<CatalogTask>& selected, std::string_view architecture) {
  RunPlan plan;
  SlugRegister workspaces;
  SlugRegister entries;
  for (const CatalogTask& task : selected) {
    plan.warnings.insert(plan.warnings.end(), task.warnings.begin(), task.warnings.end());
    if (std::string reason = skip_reason(task, architecture); !reason.empty()) {
      plan.skipped.push_back({task.name, std::move(reason)});
      continue;
    }
    ARENA_TRY(workspaces.add(workspace_slug_of(task.name), task.name));
    ARENA_TRY(entries.add(slug_of(task.name), task.name));
    PlannedTask planned;
    planned.index = static_cast<std::int64_t>(plan.tasks.size()) + 1;
    planned.name = task.name;
    planned.digest = task.digest;
    planned.stat_digest = task.stat_digest;
    plan.tasks.push_back(std::move(planned));
    if (!task.problem.empty()) plan.problems[task.name] = task.problem;
  }
  return plan;
}

std::string format_plan(const RunPlan& plan) {
  std::size_t width = 0;
  for (const PlannedTask& task : plan.tasks) width = std::max(width, task.name.size());
  for (const SkippedTask& task : plan.skipped) width = std::max(width, task.name.size());
  std::string text;
  for (const PlannedTask& task : plan.tasks) {
    const auto problem = plan.problems.find(task.name);
    if (problem == plan.problems.end()) {
      text += fmt::format("run   {:6}  {}\n", task.index, task.name);
    } else {
      text += fmt::format("fail  {:6}  {:<{}}  {}\n", task.index, task.name, width, problem->second);
    }
  }
  for (const SkippedTask& task : plan.skipped)
    text += fmt::format("skip  {:6}  {:<{}}  {}\n", "", task.name, width, task.reason);
  return text + fmt::format("{} to run, {} with a broken configuration (will fail), {} skipped\n",
                            plan.tasks.size() - plan.problems.size(), plan.problems.size(),
                            plan.skipped.size());
}

std::string format_plan_json(const RunPlan& plan) {
  using Json = nlohmann::ordered_json;
  Json json{{"tasks", Json::array()}, {"skipped", Json::array()}, {"warnings", plan.warnings}};
  for (const PlannedTask& task : plan.tasks) {
    Json entry{{"index", task.index}, {"name", task.name}};
    if (!task.digest.empty()) entry["digest"] = task.digest;
    if (const auto problem = plan.problems.find(task.name); problem != plan.problems.end())
      entry["problem"] = problem->second;
    json["tasks"].push_back(std::move(entry));
  }
  for (const SkippedTask& task : plan.skipped)
    json["skipped"].push_back({{"name", task.name}, {"reason", task.reason}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

PlanComparison compare_plans(const RunRecord& before, const RunRecord& now) {
  PlanComparison comparison;
  comparison.config = differing_lines(result_affecting_lines(before), result_affecting_lines(now));
  std::unordered_map<std::string_view, const PlannedTask*> today;
  for (const PlannedTask& task : now.tasks) today.emplace(task.name, &task);
  std::int64_t last_index = 0;
  for (const PlannedTask& task : before.tasks) {
    last_index = std::max(last_index, task.index);
    const auto found = today.find(task.name);
    if (found == today.end()) {
      comparison.removed.push_back(task.name);
      continue;
    }
    PlannedTask same = *found->second;
    today.erase(found);
    if (task.digest == same.digest) continue;
    if (task.digest.empty()) {
      same.index = task.index;
      comparison.repaired.push_back(std::move(same));
    } else {
      comparison.changed.push_back(task.name);
    }
  }
  for (const PlannedTask& task : now.tasks) {
    if (today.count(task.name) == 0) continue;
    comparison.added.push_back(task);
    comparison.added.back().index = ++last_index;
  }
  return comparison;
}

std::string PlanComparison::describe() const {
  std::string text;
  for (const std::string& line : config) text += fmt::format("configuration  {}\n", line);
  for (const std::string& name : changed) text += fmt::format("changed task   {}\n", name);
  for (const std::string& name : removed) text += fmt::format("missing task   {}\n", name);
  for (const PlannedTask& task : added) text += fmt::format("added task     {}\n", task.name);
  for (const PlannedTask& task : repaired) text += fmt::format("repaired task  {}\n", task.name);
  return text;
}

}  // namespace arena
