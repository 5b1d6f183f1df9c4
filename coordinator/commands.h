#pragma once
// One function per command of arena-coord. Each prints through the console and returns the exit code: 0 all
// done, 1 a task failed or is unfinished, 2 usage or configuration, 130 and 143 ended by a signal.
#include "coordinator/console.h"
#include "coordinator/options.h"
#include "coordinator/program_paths.h"
#include "os/clock.h"
#include "os/file_system.h"

namespace arena {

inline constexpr int kAllDone = 0;
inline constexpr int kUnfinished = 1;
inline constexpr int kUsage = 2;

// What every command works with; they live as long as the program.
struct World {
  FileSystem& disk;
  Clock& clock;
  Console& console;
  ProgramPaths paths;
};

int start_run(const Options& options, World& world);  // also --dry-run
int resume_run(const Options& options, World& world);
int show_status(const Options& options, World& world);
int list_tasks(const Options& options, World& world);
int write_run_reports(const Options& options, World& world);
int retry_tasks(const Options& options, World& world);
int stop_run(const Options& options, World& world);
int list_gpus(const Options& options, World& world);
int examine_machine(const Options& options, World& world);
int clean_runs(const Options& options, World& world);
int check_agents(const Options& options, World& world);
int show_prompt(const Options& options, World& world);

// Prints the error; 2 for what the user can mend, 1 for anything else.
int report_error(const Error& error, Console& console);

}  // namespace arena
