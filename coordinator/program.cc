#include "coordinator/program.h"

#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "coordinator/commands.h"

namespace arena {

namespace {

int run_command(const Options& options, World& world) {
  switch (options.command) {
    case Command::run:
      return options.resume_latest || !options.resume_run.empty() ? resume_run(options, world)
                                                                  : start_run(options, world);
    case Command::status:
      return show_status(options, world);
    case Command::tasks:
      return list_tasks(options, world);
    case Command::report:
      return write_run_reports(options, world);
    case Command::retry:
      return retry_tasks(options, world);
    case Command::stop:
      return stop_run(options, world);
    case Command::gpus:
      return list_gpus(options, world);
    case Command::doctor:
      return examine_machine(options, world);
    case Command::clean:
      return clean_runs(options, world);
    case Command::check_agents:
      return check_agents(options, world);
    case Command::prompt:
      return show_prompt(options, world);
  }
  ARENA_ASSERT(false);
}

}  // namespace

int report_error(const Error& error, Console& console) {
  console.error(error.message);
  return error.code == ErrorCode::invalid_input || error.code == ErrorCode::refused ||
                 error.code == ErrorCode::unsupported
             ? kUsage
             : kUnfinished;
}

int run_coordinator_program(int argc, char** argv) {
  // A terminal or reader that went away is an error of one write, never the end of a run.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTTOU, SIG_IGN);
  const auto parsed = parse_options({argv + 1, argv + argc});
  Console console(STDOUT_FILENO, STDERR_FILENO, parsed && parsed->options.verbosity < 0);
  if (!parsed) return report_error(parsed.error(), console);
  if (parsed->answer) {
    console.result(parsed->answer->text);
    return kAllDone;
  }
  const auto paths = find_program_paths();
  if (!paths) return report_error(paths.error(), console);
  RealFileSystem disk;
  RealClock clock;
  World world{disk, clock, console, *paths};
  return run_command(parsed->options, world);
}

}  // namespace arena
