#include "worker/measurement.h"

#include <fmt/format.h>

#include "worker/untrusted_tree.h"

namespace arena {

namespace {

constexpr std::uint64_t kLargestReport = 64 << 20;

// What stands in the way of a fresh report, or empty.
std::string remove_old_reports(const fs::path& directory) {
  for (const std::string& name : report_file_names()) {
    const fs::path path = directory / name;
    boost::system::error_code problem;
    const fs::file_status status = fs::symlink_status(path, problem);
    if (status.type() == fs::file_not_found) continue;
    if (status.type() == fs::directory_file) return fmt::format("cannot measure: '{}' is a directory", name);
    fs::remove(path, problem);
    if (problem)
      return fmt::format("cannot measure: an old '{}' cannot be removed: {}", name, problem.message());
  }
  return "";
}

Measurement read_cases(const fs::path& directory, const std::string& output, const TimingOptions& options) {
  Measurement found;
  for (const std::string& name : report_file_names()) {
    const auto text = read_beneath(directory, name, kLargestReport);
    if (!text) {
      if (text.error().code != ErrorCode::not_found) found.problem = text.error().message;
      continue;
    }
    auto cases = parse_report_json(*text, options);
    if (!cases) {
      found.problem = fmt::format("'{}': {}", name, cases.error().message);
    } else if (!cases->empty()) {
      return {std::move(*cases), ""};
    }
  }
  found.cases = parse_report_stdout(output);
  if (!found.cases.empty()) {
    found.problem.clear();
  } else if (found.problem.empty()) {
    found.problem = "neither a report file nor the output holds a timing";
  }
  return found;
}

}  // namespace

Result<Measurement> measure(TaskCommands& commands, const std::vector<std::string>& lines,
                            const std::string& log_name, std::chrono::milliseconds limit,
                            const TimingOptions& options) {
  Measurement last;
  last.problem = "the task has no performance command";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    last.problem = remove_old_reports(commands.directory());
    if (!last.problem.empty()) return last;
    ARENA_ASSIGN(const CommandRun run, commands.run_timed(lines[i], numbered_log(log_name, i), limit));
    if (!run.outcome.succeeded()) {
      last = {{}, explain_failure(lines[i], run)};
      continue;
    }
    last = read_cases(commands.directory(), run.output, options);
    if (!last.cases.empty()) return last;
    last.problem = fmt::format("'{}': {}", lines[i], last.problem);
  }
  return last;
}

}  // namespace arena
