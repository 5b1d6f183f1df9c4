#pragma once
// Runs the shell lines of a task in one directory, each with a limit and its own capped log. Shell lines are
// the contract of v0.2's task configurations; everything else is started without a shell.
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "os/process.h"

namespace arena {

// A leading python, python3 or pytest is the interpreter the configuration names, if it names one.
std::string with_interpreter(const std::string& line, const std::string& python_path);

struct CommandSettings {
  fs::path directory;          // where the lines run
  EnvironmentMap environment;  // all of it
  fs::path log_directory;
  std::uint64_t output_limit = 16 << 20;
  std::string python_path;  // empty: as the line says
  std::function<Status(const fs::path& log)> starting =
      nullptr;                                  // told before each line; its error ends the run
  std::function<void()> timing_begins = [] {};  // around each performance command
  std::function<void()> timing_ended = [] {};
};

struct CommandRun {
  ProcessOutcome outcome;
  std::string output;  // stdout and stderr as kept in the log
};

// Not thread-safe; `runner` outlives it.
class TaskCommands {
 public:
  TaskCommands(ProcessRunner& runner, CommandSettings settings)
      : runner_(runner), settings_(std::move(settings)) {}
  const fs::path& directory() const { return settings_.directory; }

  // `log_name` without .log. cancelled when the worker was asked to stop; other errors are the runner's own.
  Result<CommandRun> run(const std::string& line, const std::string& log_name,
                         std::chrono::milliseconds limit);
  // The same for a line that measures.
  Result<CommandRun> run_timed(const std::string& line, const std::string& log_name,
                               std::chrono::milliseconds limit);

  // The lines one after the other, until one fails; what went wrong, or empty. The n-th log is
  // `<log_name>_<n>` from 2 on. `objection` may find fault with the output of a line that succeeded.
  using Objection = std::function<std::string(const CommandRun&)>;
  Result<std::string> run_all(const std::vector<std::string>& lines, const std::string& log_name,
                              std::chrono::milliseconds limit, const Objection& objection = nullptr);

 private:
  ProcessRunner& runner_;
  CommandSettings settings_;
};

std::string numbered_log(const std::string& log_name, std::size_t index);  // from 0

// "exit code 2: " and the end of the output (some 4 KB), printable: what goes into an error message.
std::string explain_failure(const std::string& line, const CommandRun& run);

// Is (nearly) no block or inode left there? A command that failed then says nothing about the kernel.
bool is_disk_full(const fs::path& directory);

}  // namespace arena
