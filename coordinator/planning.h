#pragma once
// From the command line to what a run executes: configuration, agent, tasks, slots. Looks at files, creates
// none; whatever is wrong is found here.
#include <map>
#include <string>
#include <vector>

#include "coordinator/commands.h"
#include "coordinator/options.h"
#include "coordinator/run_plan.h"
#include "model/run_record.h"

namespace arena {

struct PreparedRun {
  RunRecord record;                  // a new run's has neither id nor name yet
  RunPlan plan;                      // as the files are now
  std::vector<std::string> devices;  // one per slot
  std::map<std::string, std::string> driver_versions;
  std::vector<std::string> environment_names;  // for the agent
  std::vector<std::string> warnings;           // about the configuration; those about tasks are the plan's
};

Result<PreparedRun> prepare_new_run(const Options& options, const World& world);

// The run of `stored` again, from the files as they are now; --config, --tasks-dir and numbers of the command
// line replace what it remembers. The record keeps its id, name and indexes. refused, with every difference a
// line, when something that affects results has changed.
struct PreparedResume {
  PreparedRun run;
  PlanComparison differences;  // those a resume accepts: tasks added, broken configurations repaired
};
Result<PreparedResume> prepare_resume(const Options& options, const World& world, const RunRecord& stored);

// CPU slots: as many as asked for, else one per core but no more than tasks.
std::vector<std::string> cpu_slots(const Options& options, std::size_t tasks, unsigned cores);

}  // namespace arena
