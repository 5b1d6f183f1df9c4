#pragma once
// The last step of an attempt: what was measured is put into the workspace, through the directory opened when
// the attempt began. If the task was given to somebody else meanwhile, it lands in the archived workspace and
// harms nobody.
#include "model/timing.h"
#include "os/directory_handle.h"

namespace arena {

// Moves `logs` to logs/ and, if it is there, `agent` to agent/, writes baseline_perf.yaml and
// optimized_perf.yaml where there are cases, and publishes task_result.yaml last, synced. Whatever the agent
// left under one of these names is removed first, never written through.
Status publish_results(const DirectoryHandle& workspace, const fs::path& logs, const fs::path& agent,
                       const std::vector<TimedCase>& baseline, const std::vector<TimedCase>& candidate,
                       const std::string& result);

}  // namespace arena
