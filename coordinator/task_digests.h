#pragma once
// The digests that tie a run to the very files of its tasks.
#include "base/path.h"
#include "coordinator/run_plan.h"
#include "os/tree.h"

namespace arena {

// How tasks are looked at and copied: links to files that tasks share count as those files.
CopyOptions copy_of_tasks(const fs::path& tasks_directory);

// Fills in digest and stat_digest of the planned tasks that have none yet: the whole tree, solution/
// included. A task with a problem gets none, and one that cannot be copied as it is gets a problem. All cores
// share the reading.
void add_task_digests(RunPlan& plan, const fs::path& tasks_directory);

}  // namespace arena
