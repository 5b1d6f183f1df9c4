#pragma once
// The digests that tie a run to the very files of its tasks.
#include <vector>

#include "base/path.h"
#include "coordinator/run_plan.h"

namespace arena {

// Fills in digest and stat_digest of the planned tasks: the whole tree, solution/ included. A task that is in
// `known` with the same stat_digest keeps that digest unread. A task with a problem gets none, and one that
// cannot be copied as it is gets a problem.
void add_task_digests(RunPlan& plan, const fs::path& tasks_directory, const std::vector<PlannedTask>& known);

}  // namespace arena
