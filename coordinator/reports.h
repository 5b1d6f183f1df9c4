#pragma once
// The reports of a run, written when something changed since the last time.
#include <optional>
#include <string>

#include "coordinator/console.h"
#include "coordinator/run_report.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"

namespace arena {

// Reads every result, writes <run>/reports/ and returns what they say.
Result<RunReport> refresh_reports(FileSystem& disk, const QueueLayout& layout, Console& console);

// Whether the reports are at least as new as the last task that ended: then nothing needs to be read.
bool are_reports_current(const QueueLayout& layout);

}  // namespace arena
