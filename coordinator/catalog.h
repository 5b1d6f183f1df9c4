#pragma once
// The tasks below a tasks directory: every directory with a config.yaml, named by its path from there. Hidden
// directories and what lies below a task (clones, workspaces) hold no tasks; symbolic links to directories
// are followed, but never in a circle. Read-only; all cores share the reading.
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "model/run_record.h"
#include "model/task_spec.h"

namespace arena {

struct CatalogTask {
  std::string name;  // hip2hip/gpumode/GELU
  fs::path directory;
  TaskSpec spec;        // only when problem and digest are empty
  std::string problem;  // why its configuration cannot be used, with file:line; it fails this task alone
  std::vector<std::string> warnings;  // unknown keys and the like, with file:line
  std::string digest;                 // of a known task; as in PlannedTask
  std::string stat_digest;
};

// The tasks that any of `selectors` picks, sorted by name (bytes), each once. "all" picks every task,
// anything else the tasks at or below that path; *, ?, [...] and ** work as in v0.2. A selector that picks
// nothing is invalid_input and names the nearest tasks. Only what the selectors can reach is read.
// A task that was planned before (it is in `known`) and whose files have not been touched since is not read
// again: it comes with the digests it had.
Result<std::vector<CatalogTask>> load_catalog(const fs::path& tasks_directory,
                                              const std::vector<std::string>& selectors,
                                              const std::vector<PlannedTask>& known = {});

}  // namespace arena
