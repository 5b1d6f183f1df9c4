#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "coordinator/agent_preflight.h"
#include "coordinator/commands.h"
#include "model/agent_spec.h"

namespace arena {

namespace {

Result<RunConfig> read_config(const Options& options, const World& world) {
  const auto text = world.disk.read(options.config);
  if (!text) return fail(ErrorCode::invalid_input, text.error().message);
  std::vector<std::string> warnings;
  return parse_run_config(*text, options.config.string(), &warnings);
}

// Those that are programs with a check.
Result<std::vector<std::string>> all_agents(const World& world) {
  ARENA_ASSIGN(std::vector<std::string> files, world.disk.list(world.paths.data / "agents"));
  std::sort(files.begin(), files.end());
  std::vector<std::string> names;
  for (const std::string& file : files) {
    if (!file.ends_with(".yaml")) continue;
    const std::string name = file.substr(0, file.size() - 5);
    ARENA_ASSIGN(const std::string text, world.disk.read(world.paths.data / "agents" / file));
    ARENA_ASSIGN(const AgentSpec spec, parse_agent_spec(text, name));
    if (!spec.version_argv.empty()) names.push_back(name);
  }
  return names;
}

// What is checked: those named, else the configuration's, else v0.2's three.
Result<std::vector<std::string>> chosen_agents(const Options& options, const std::optional<RunConfig>& config,
                                               const World& world) {
  std::vector<std::string> names = split(options.agents, ", ");
  if (std::find(names.begin(), names.end(), "all") != names.end()) return all_agents(world);
  if (names.empty() && config) return std::vector<std::string>{config->agent.template_name};
  if (names.empty()) return std::vector<std::string>{"claude_code", "codex", "cursor"};
  for (std::string& name : names) {
    name = to_lower(name);
    std::replace(name.begin(), name.end(), '-', '_');
    ARENA_ASSIGN(const bool known, world.disk.exists(world.paths.data / "agents" / (name + ".yaml")));
    if (!known) {
      ARENA_ASSIGN(const std::vector<std::string> all, all_agents(world));
      return fail(ErrorCode::invalid_input,
                  fmt::format("--agents: there is no agent '{}'; known are {}", name, fmt::join(all, ", ")));
    }
  }
  return names;
}

Result<int> check_all(const Options& options, const World& world) {
  std::optional<RunConfig> config;
  if (!options.config.empty()) {
    ARENA_ASSIGN(config, read_config(options, world));
  }
  ARENA_ASSIGN(const std::vector<std::string> names, chosen_agents(options, config, world));
  bool well = true;
  for (const std::string& name : names) {
    RunConfig asked;
    asked.agent.template_name = name;
    asked.tasks = {"all"};
    if (config && config->agent.template_name == name) asked = *config;
    ARENA_ASSIGN(const bool ok, check_agent_of(asked, world, Shown::everything, options.json));
    well = well && ok;
  }
  return well ? kAllDone : kUnfinished;
}

}  // namespace

int check_agents(const Options& options, World& world) {
  const auto code = check_all(options, world);
  return code ? *code : report_error(code.error(), world.console);
}

int show_prompt(const Options& options, World& world) {
  const auto config = read_config(options, world);
  if (!config) return report_error(config.error(), world.console);
  const fs::path tasks =
      options.tasks_directory.empty() ? world.paths.data / "tasks" : options.tasks_directory;
  std::vector<std::string> words = {
      "prompt",      "--task",     options.names.front(), "--tasks-dir", fs::absolute(tasks).string(),
      "--workspace", "<workspace>"};
  if (const auto architecture = architecture_of_model(config->target_gpu_model);
      architecture && !architecture->empty())
    words.insert(words.end(), {"--architecture", *architecture});
  const auto answer = ask_worker(*config, world, std::move(words));
  if (!answer) return report_error(answer.error(), world.console);
  world.console.result(trim(answer->output));
  return kAllDone;
}

}  // namespace arena
