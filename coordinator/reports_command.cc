#include <fmt/format.h>

#include "coordinator/commands.h"
#include "coordinator/report_files.h"
#include "coordinator/reports.h"
#include "coordinator/run_directory.h"

namespace arena {

namespace {

// As v0.2's post-processing alone: 1 while anything is unfinished or has failed.
int exit_code_of(const RunReport& report) {
  for (const ScoredRow& row : report.rows) {
    if (row.row.state != RowState::done) return kUnfinished;
  }
  return kAllDone;
}

}  // namespace

int write_run_reports(const Options& options, World& world) {
  const auto run = find_run(world.disk, options.run, options.workspace_root);
  if (!run) return report_error(run.error(), world.console);
  const QueueLayout layout(*run);
  const auto report = refresh_reports(world.disk, layout, world.console);
  if (!report) return report_error(report.error(), world.console);
  if (options.json) {
    const auto lines = world.disk.read(layout.reports() / "results.jsonl");
    if (!lines) return report_error(lines.error(), world.console);
    world.console.result(*lines);
  } else {
    world.console.line(render_terminal(*report, world.console.color()));
    world.console.result(fmt::format("reports: {}", layout.reports().string()));
  }
  return exit_code_of(*report);
}

}  // namespace arena
