#pragma once
// Performance of one side: runs a task's performance commands and reads what they report. A report counts
// only if the very command wrote it: every report file is removed before each command, and what cannot be
// removed stops the measurement.
#include "model/timing.h"
#include "worker/task_commands.h"

namespace arena {

struct Measurement {
  std::vector<TimedCase> cases;
  std::string problem;  // why there are no cases, empty if there are
};

// The first command with at least one case ends it. A command that fails, times out or crashes gives no
// cases, whatever it printed. Errors are the runner's; a kernel that cannot be measured is a Measurement with
// a problem.
Result<Measurement> measure(TaskCommands& commands, const std::vector<std::string>& lines,
                            const std::string& log_name, std::chrono::milliseconds limit,
                            const TimingOptions& options);

}  // namespace arena
