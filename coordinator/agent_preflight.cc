#include "coordinator/agent_preflight.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "model/agent_spec.h"
#include "os/environment.h"
#include "os/process.h"
#include "os/tree.h"

namespace arena {

namespace {

// All steps of one check: version, login, answer, what it requires.
constexpr std::chrono::seconds kPatience{180};

Result<AgentSpec> read_spec(const RunConfig& config, const World& world) {
  const std::string& name = config.agent.template_name;
  ARENA_ASSIGN(const std::string text, world.disk.read(world.paths.data / "agents" / (name + ".yaml")));
  return parse_agent_spec(text, name);
}

bool needs_check(const AgentSpec& spec) {
  return !spec.version_argv.empty() || !spec.requires_all.empty() || spec.login || spec.probe;
}

void show(const std::string& agent, const nlohmann::json& finding, const World& world, Shown shown,
          bool json) {
  const bool ok = finding.value("ok", false);
  if (ok && shown == Shown::only_problems && finding.value("what", "") != "note") return;
  if (json) {
    nlohmann::ordered_json line = {{"agent", agent}};
    for (const auto& [key, value] : finding.items()) line[key] = value;
    return world.console.result(line.dump());
  }
  const std::string text = fmt::format("{:<8} {:<16} {:<28} {}", ok ? "ok" : "missing", agent,
                                       finding.value("what", ""), finding.value("detail", ""));
  const std::string mend = ok ? "" : fmt::format("{:25} -> {}", "", finding.value("mend", ""));
  if (shown == Shown::only_problems) {
    world.console.error(text);
    if (!mend.empty()) world.console.error(mend);
  } else {
    world.console.result(text);
    if (!mend.empty()) world.console.result(mend);
  }
}

}  // namespace

Result<HelperAnswer> ask_worker(const RunConfig& config, const World& world, std::vector<std::string> words) {
  std::string scratch = (fs::temp_directory_path() / "arena-ask-XXXXXX").string();
  if (::mkdtemp(scratch.data()) == nullptr) return fail(error_from_errno(errno, "make", scratch));
  auto answer = [&]() -> Result<HelperAnswer> {
    const fs::path settings = fs::path(scratch) / "run.yaml";
    ARENA_TRY(world.disk.create(settings, write_run_config(config), Sync::no));
    ARENA_ASSIGN(const AgentSpec spec, read_spec(config, world));
    ProcessSpec process;
    process.argv = {world.paths.worker.string()};
    process.argv.insert(process.argv.end(), words.begin(), words.end());
    process.argv.insert(process.argv.end(),
                        {"--settings", settings.string(), "--data-dir", world.paths.data.string()});
    std::vector<std::string> names = basic_environment_names();
    names.insert(names.end(), spec.environment_names.begin(), spec.environment_names.end());
    names.insert(names.end(), config.agent.env.begin(), config.agent.env.end());
    process.environment = select_environment(current_environment(), names);
    process.working_directory = scratch;
    process.output_file = fs::path(scratch) / "output";
    process.time_limit = kPatience;
    RealProcessRunner runner;
    ARENA_ASSIGN(const ProcessOutcome outcome, runner.run(process));
    if (std::holds_alternative<Stopped>(outcome.end)) return fail(ErrorCode::cancelled, "interrupted");
    ARENA_ASSIGN(std::string output, world.disk.read(process.output_file));
    const auto* const exited = std::get_if<Exited>(&outcome.end);
    if (exited == nullptr || exited->code > 1) {
      return fail(ErrorCode::invalid_input,
                  fmt::format("arena-worker {}: {}: {}", words.front(), describe(outcome.end),
                              to_printable_utf8(trim(output))));
    }
    return HelperAnswer{exited->code, std::move(output)};
  }();
  static_cast<void>(remove_tree(scratch));
  return answer;
}

Result<bool> check_agent_of(const RunConfig& config, const World& world, Shown shown, bool json) {
  std::vector<std::string> words = {"check-agent"};
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home != '\0')
    words.insert(words.end(), {"--user-home", home});
  ARENA_ASSIGN(const HelperAnswer answer, ask_worker(config, world, std::move(words)));
  for (const std::string& line : split(answer.output, "\n")) {
    const auto finding = nlohmann::json::parse(line, nullptr, false);
    if (finding.is_object()) show(config.agent.template_name, finding, world, shown, json);
  }
  return answer.code == 0;
}

Status preflight(const RunConfig& config, const World& world, const Options& options) {
  if (options.no_preflight) return {};
  ARENA_ASSIGN(const AgentSpec spec, read_spec(config, world));
  if (!needs_check(spec)) return {};
  ARENA_ASSIGN(const bool well, check_agent_of(config, world, Shown::only_problems, false));
  if (well) return {};
  return fail(
      ErrorCode::invalid_input,
      fmt::format("the agent '{}' cannot work here: mend what is missing and start again (--no-preflight "
                  "starts all the same)",
                  spec.name));
}

}  // namespace arena
