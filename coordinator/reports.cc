#include "coordinator/reports.h"

#include "coordinator/report_files.h"
#include "coordinator/report_input.h"
#include "coordinator/run_display.h"

namespace arena {

Result<RunReport> refresh_reports(FileSystem& disk, const QueueLayout& layout, Console& console) {
  ARENA_ASSIGN(RunReportInput input, load_report_input(disk, layout));
  for (const std::string& warning : input.warnings) console.error("warning: " + warning);
  ReportWriter writer(disk, layout);
  ARENA_TRY(writer.begin());
  const auto add = [&](const RunReportInput& about, const std::vector<ScoredRow>& rows) {
    return writer.add(about, rows);
  };
  ARENA_ASSIGN(RunReport report, make_run_report(std::move(input), add));
  ARENA_TRY(writer.finish(report));
  return report;
}

bool are_reports_current(const QueueLayout& layout) {
  // The directories' own times: each task that ends, or is put back, changes one of them.
  const auto written = modification_time(layout.reports() / "results.jsonl");
  if (!written) return false;
  for (const QueueState state : kQueueStates) {
    const auto changed = modification_time(layout.state_directory(state));
    if (!changed || *changed >= *written) return false;
  }
  return true;
}

}  // namespace arena
