#pragma once
// Reads what a report needs from a run directory, at any time: while it runs, after it, and runs of v0.2.
// Takes no lock and changes nothing. What cannot be read becomes a row that says so, or a warning; only a
// directory that is no run is an error. Rows are completed when the report is made: `disk` must live until
// then.
#include "base/result.h"
#include "coordinator/run_report.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"

namespace arena {

Result<RunReportInput> load_report_input(FileSystem& disk, const QueueLayout& layout);

// Gives a run of v0.2 its rows: child directories with a task_result.yaml, plus tasks whose descriptor has no
// result. Agent and GPU stand in the name of the workspace root, workspace_<gpu>_<agent>.
Result<RunReportInput> load_foreign_report_input(FileSystem& disk, const QueueLayout& layout);

}  // namespace arena
