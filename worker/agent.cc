#include "worker/agent.h"

#include <fmt/format.h>

#include <fstream>

#include "worker/agent_home.h"
#include "worker/harness_guard.h"
#include "worker/redaction.h"
#include "worker/untrusted_tree.h"

namespace arena {

namespace {

// The readable log, a line at a time so that `tail -f` shows it; no larger than the transcript may be.
class LogFile {
 public:
  LogFile(const fs::path& file, std::uint64_t limit)
      : stream_(file.string(), std::ios::binary), left_(limit) {}
  void write(std::string_view text) {
    if (left_ == 0) return;
    stream_ << text.substr(0, left_);
    left_ -= std::min<std::uint64_t>(left_, text.size());
    if (left_ == 0) stream_ << "\n(no more is kept)\n";
    stream_.flush();
  }

 private:
  std::ofstream stream_;
  std::uint64_t left_;
};

std::optional<std::chrono::milliseconds> limit_of(std::int64_t seconds) {
  if (seconds == 0) return std::nullopt;
  return std::chrono::seconds(seconds);
}

void set_timers(const AgentSpec& spec, const AgentSettings& settings, ProcessSpec& process) {
  process.time_limit = limit_of(settings.timeout_seconds.value_or(spec.default_timeout_seconds));
  process.idle_limit = limit_of(spec.idle_timeout_seconds);
  process.final_grace = limit_of(spec.final_grace_seconds);
  for (const AgentStopStep& step : spec.stop)
    process.stop_steps.push_back({step.signal, std::chrono::seconds(step.wait_seconds)});
}

}  // namespace

std::string transcript_name(AgentDialect dialect) {
  return dialect == AgentDialect::plain ? kAgentLog : "transcript.jsonl";
}

Result<AgentRun> run_agent(ProcessRunner& runner, const AgentSpec& spec, const AgentSettings& settings,
                           const EnvironmentMap& caller_environment, const AgentPlace& place) {
  ProcessSpec process;
  PlaceholderValues values = place.values;
  values["home"] = place.home.string();
  ARENA_ASSIGN(process.argv, make_agent_argv(spec, settings, values));
  process.environment = agent_environment(spec, settings, caller_environment, place.environment, place.home);
  ARENA_ASSIGN(const AgentHome home,
               furnish_agent_home(spec, place.user_home, place.home, process.environment));
  process.working_directory = place.workspace;
  if (spec.prompt_on_stdin) process.stdin_file = place.prompt_file;
  process.output_file = place.directory / transcript_name(spec.dialect);
  process.output_limit = place.output_limit;
  set_timers(spec, settings, process);

  std::vector<std::string> secrets = secrets_of(process.environment);
  secrets.insert(secrets.end(), home.secrets.begin(), home.secrets.end());
  Redactor output(secrets);
  Redactor errors(secrets);
  std::optional<LogFile> log;
  if (spec.dialect != AgentDialect::plain) {
    log.emplace(place.directory / kAgentLog, place.output_limit);
    process.error_file = place.directory / kAgentErrors;
  }
  AgentReader reader(spec, [&log](std::string_view text) {
    if (log) log->write(text);
  });
  process.tap = [&](OutputStream stream, std::string_view bytes) {
    Redactor& redactor = stream == OutputStream::out ? output : errors;
    std::string clean = bytes.empty() ? redactor.finish() : redactor.take(bytes);
    if (stream == OutputStream::out) reader.take(clean);
    return Tapped{std::move(clean), reader.saw_final_event()};
  };

  ARENA_ASSIGN(const ProcessOutcome outcome, runner.run(process));
  if (std::holds_alternative<Stopped>(outcome.end))
    return fail(ErrorCode::cancelled, "the worker was asked to stop");
  reader.finish();
  AgentRun run;
  run.end = outcome.end;
  run.duration = outcome.duration;
  run.reading = reader.reading();
  run.left_processes = outcome.left_processes;
  run.notes = home.notes;
  for (const std::string& word : process.argv) run.argv.push_back(output.redact(word));
  for (const auto& variable : process.environment) run.environment_names.push_back(variable.first);
  return run;
}

Result<std::vector<std::string>> find_solution_files(const fs::path& solution,
                                                     const std::vector<std::string>& editable) {
  std::vector<std::string> files;
  if (const auto listing = list_tree(solution)) {
    // What a candidate may bring in addition to an empty tree is what the solution may bring.
    files = plan_takeover({}, *listing, editable, [](const std::string&) { return true; }).changed;
  }
  if (files.empty()) {
    return fail(ErrorCode::not_found,
                fmt::format("no reference solution: '{}' holds no editable file", solution.string()));
  }
  return files;
}

Result<AgentRun> apply_solution(const fs::path& solution, const std::vector<std::string>& files,
                                const fs::path& workspace) {
  for (const std::string& file : files) ARENA_TRY(copy_beneath(solution, workspace, file));
  AgentRun run;
  run.done =
      fmt::format("applied {} file{} of the reference solution", files.size(), files.size() == 1 ? "" : "s");
  return run;
}

}  // namespace arena
