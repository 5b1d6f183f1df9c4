#include "worker/agent.h"

#include <fmt/format.h>

#include "base/placeholders.h"
#include "os/environment.h"
#include "worker/harness_guard.h"
#include "worker/untrusted_tree.h"

namespace arena {

namespace {

// A setting that is not configured has no placeholder: an argv that names it is an error.
PlaceholderValues placeholder_values(const AgentSettings& settings, const AgentPlace& place) {
  PlaceholderValues values = setting_placeholders(settings);
  values["workspace"] = place.workspace.string();
  values["prompt_file"] = place.prompt_file.string();
  values["task_name"] = place.task_name;
  return values;
}

}  // namespace

Result<AgentRun> run_agent(ProcessRunner& runner, const AgentSpec& spec, const AgentSettings& settings,
                           const EnvironmentMap& caller_environment, const AgentPlace& place) {
  ProcessSpec process;
  const PlaceholderValues values = placeholder_values(settings, place);
  for (const std::string& word : spec.argv_from_config ? settings.command : spec.argv) {
    ARENA_ASSIGN(std::string expanded, expand_placeholders(word, values));
    process.argv.push_back(std::move(expanded));
  }
  if (process.argv.empty())
    return fail(ErrorCode::invalid_input, fmt::format("agent '{}' has no command", spec.name));

  process.environment = place.environment;
  std::vector<std::string> names = spec.environment_names;
  names.insert(names.end(), settings.env.begin(), settings.env.end());
  for (const auto& [name, value] : select_environment(caller_environment, names))
    process.environment[name] = value;
  for (const auto& [name, value] : spec.environment) process.environment[name] = value;
  process.working_directory = place.workspace;
  if (spec.prompt_on_stdin) process.stdin_file = place.prompt_file;
  process.output_file = place.log;
  process.output_limit = place.output_limit;
  const std::int64_t seconds = settings.timeout_seconds.value_or(spec.default_timeout_seconds);
  if (seconds > 0) process.time_limit = std::chrono::seconds(seconds);

  ARENA_ASSIGN(const ProcessOutcome outcome, runner.run(process));
  if (std::holds_alternative<Stopped>(outcome.end))
    return fail(ErrorCode::cancelled, "the worker was asked to stop");
  AgentRun run;
  run.outcome.end = describe(outcome.end);
  run.outcome.ok = outcome.succeeded();
  run.outcome.duration_ms = outcome.duration.count();
  run.left_processes = outcome.left_processes;
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
  run.outcome.end =
      fmt::format("applied {} file{} of the reference solution", files.size(), files.size() == 1 ? "" : "s");
  run.outcome.ok = true;
  return run;
}

}  // namespace arena
