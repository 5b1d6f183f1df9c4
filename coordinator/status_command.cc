#include <poll.h>

#include "coordinator/commands.h"
#include "coordinator/run_directory.h"
#include "coordinator/status.h"

namespace arena {

namespace {

constexpr int kWatchPeriodMs = 1000;

void show_once(const RunStatus& status, const Options& options, World& world) {
  if (options.json) return world.console.result(status_json(status));
  for (const std::string& line : status_lines(status, world.clock.now())) world.console.result(line);
}

std::vector<std::string> fitted(std::vector<std::string> lines, const Console& console) {
  const std::size_t width = static_cast<std::size_t>(console.width()),
                    height = static_cast<std::size_t>(console.height());
  for (std::string& line : lines) line = line.substr(0, width);
  if (lines.size() + 1 > height && height > 1) lines.resize(height - 1);
  return lines;
}

// Redraws on a terminal; elsewhere each state that differs from the last is printed.
int watch(const fs::path& run, const Options& options, World& world) {
  std::string shown;
  for (;;) {
    const auto status = read_status(world.disk, run);
    if (!status) return report_error(status.error(), world.console);
    if (status->is_over()) {
      world.console.draw({});
      show_once(*status, options, world);
      return kAllDone;
    }
    if (world.console.is_terminal() && !options.json) {
      world.console.draw(fitted(status_lines(*status, world.clock.now()), world.console));
    } else if (const std::string now = status_json(*status); now != shown) {
      show_once(*status, options, world);
      shown = now;
    }
    ::poll(nullptr, 0, kWatchPeriodMs);
  }
}

}  // namespace

int show_status(const Options& options, World& world) {
  std::vector<std::string> warnings;
  const auto run = options.run.empty() ? find_newest_run(world.disk, options.workspace_root, &warnings)
                                       : find_run(world.disk, options.run, options.workspace_root);
  for (const std::string& warning : warnings) world.console.error("warning: " + warning);
  if (!run) return report_error(run.error(), world.console);
  if (options.watch) return watch(*run, options, world);
  const auto status = read_status(world.disk, *run);
  if (!status) return report_error(status.error(), world.console);
  show_once(*status, options, world);
  return kAllDone;
}

}  // namespace arena
