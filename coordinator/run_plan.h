#pragma once
// What a run executes, what it leaves out, and why. Pure: the same catalog, configuration and architecture
// give the same plan.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "coordinator/catalog.h"
#include "model/run_config.h"
#include "model/run_record.h"

namespace arena {

struct RunPlan {
  std::vector<PlannedTask> tasks;  // indexes from 1, sorted by name; digests by add_task_digests
  std::map<std::string, std::string>
      problems;                      // of planned tasks that will fail (task_error): broken configurations
  std::vector<SkippedTask> skipped;  // not for this platform, or not runnable by this arena yet
  std::vector<std::string> warnings;
};

// `architecture` is that of the devices (gfx942, …), else of the configured model; empty if there is none. A
// task that comes with its digest was planned before, for the same architecture, and runs.
// Two tasks whose names give one file or workspace name, or a name too long for a file, are invalid_input.
Result<RunPlan> make_run_plan(const std::vector<CatalogTask>& selected, std::string_view architecture);

// For --dry-run: a line a task, aligned, with what happens and why, and a last line with the numbers.
std::string format_plan(const RunPlan& plan);
std::string format_plan_json(const RunPlan& plan);  // one object; a digest is there once it is known

// What a resume finds changed since the run's record was written.
struct PlanComparison {
  std::vector<std::string> config;   // "- agent.model: a", "+ agent.model: b": result-affecting values
  std::vector<std::string> changed;  // tasks whose files changed
  std::vector<std::string> removed;  // planned then, not selected or skipped now
  std::vector<PlannedTask> added;    // new tasks, with the indexes after the last one of the record
  std::vector<PlannedTask>
      repaired;  // had no usable configuration then and have one now; index of the record

  bool is_refused() const { return !config.empty() || !changed.empty() || !removed.empty(); }
  std::string describe() const;  // a line a difference; empty without any
};

// `now` is the record that a new run of today's files and configuration would get.
PlanComparison compare_plans(const RunRecord& before, const RunRecord& now);

}  // namespace arena
