#include "worker/task_commands.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "base/text.h"
#include "worker/untrusted_tree.h"

namespace arena {

namespace {

constexpr std::size_t kShownOutput = 4096;
constexpr std::uint64_t kLargestLog = std::uint64_t{1} << 32;

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string with_interpreter(const std::string& line, const std::string& python_path) {
  if (python_path.empty()) return line;
  const std::size_t start = line.find_first_not_of(" \t");
  if (start == std::string::npos) return line;
  const std::size_t end = std::min(line.find_first_of(" \t\n;|&", start), line.size());
  const std::string_view word = std::string_view(line).substr(start, end - start);
  const std::string rest = line.substr(end);
  if (word == "python" || word == "python3") return shell_quoted(python_path) + rest;
  if (word == "pytest") return shell_quoted(python_path) + " -m pytest" + rest;
  return line;
}

Result<CommandRun> TaskCommands::run(const std::string& line, const std::string& log_name,
                                     std::chrono::milliseconds limit) {
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c", with_interpreter(line, settings_.python_path)};
  spec.environment = settings_.environment;
  spec.working_directory = settings_.directory;
  spec.output_file = settings_.log_directory / (log_name + ".log");
  spec.output_limit = settings_.output_limit;
  spec.time_limit = limit;
  if (settings_.starting != nullptr) ARENA_TRY(settings_.starting(spec.output_file));
  ARENA_ASSIGN(ProcessOutcome outcome, runner_.run(spec));
  if (std::holds_alternative<Stopped>(outcome.end))
    return fail(ErrorCode::cancelled, "the worker was asked to stop");
  CommandRun run{std::move(outcome), ""};
  // A child that wrote nothing may have left no log.
  if (auto output = read_beneath(settings_.log_directory, log_name + ".log", kLargestLog))
    run.output = std::move(*output);
  if (!run.outcome.succeeded() && is_disk_full(settings_.directory)) {
    return fail(ErrorCode::no_space,
                fmt::format("cannot run '{}' in '{}': the disk is full", line, settings_.directory.string()));
  }
  return run;
}

Result<CommandRun> TaskCommands::run_timed(const std::string& line, const std::string& log_name,
                                           std::chrono::milliseconds limit) {
  settings_.timing_begins();
  auto done = run(line, log_name, limit);
  settings_.timing_ended();
  return done;
}

Result<std::string> TaskCommands::run_all(const std::vector<std::string>& lines, const std::string& log_name,
                                          std::chrono::milliseconds limit, const Objection& objection) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ARENA_ASSIGN(const CommandRun done, run(lines[i], numbered_log(log_name, i), limit));
    if (!done.outcome.succeeded()) return explain_failure(lines[i], done);
    if (objection == nullptr) continue;
    if (std::string problem = objection(done); !problem.empty()) return problem;
  }
  return std::string();
}

std::string numbered_log(const std::string& log_name, std::size_t index) {
  return index == 0 ? log_name : fmt::format("{}_{}", log_name, index + 1);
}

std::string explain_failure(const std::string& line, const CommandRun& run) {
  const std::string_view shown =
      line.size() > 200 ? std::string_view(line).substr(0, 200) : std::string_view(line);
  std::string text = fmt::format("'{}': {}", to_printable_utf8(shown), describe(run.outcome.end));
  std::string_view output = trim(run.output);
  if (output.size() > kShownOutput) output.remove_prefix(output.size() - kShownOutput);
  if (!output.empty()) text += '\n' + to_printable_utf8(output);
  return text;
}

bool is_disk_full(const fs::path& directory) {
  struct statvfs status {};
  if (::statvfs(directory.c_str(), &status) != 0) return false;
  constexpr std::uint64_t kNothingLeft = 64 << 10;
  const bool no_inode = status.f_files > 0 && status.f_favail == 0;
  return no_inode || std::uint64_t{status.f_bavail} * status.f_frsize < kNothingLeft;
}

}  // namespace arena
