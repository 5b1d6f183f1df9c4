#include "worker/helper_program.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "os/environment.h"
#include "os/tree.h"
#include "worker/agent_check.h"
#include "worker/options.h"
#include "worker/prompt.h"

namespace arena {

namespace {

struct HelperOptions {
  std::string settings, data, user_home, task, tasks_directory, workspace, architecture;
};

Result<RunConfig> read_settings(FileSystem& disk, const std::string& file) {
  ARENA_ASSIGN(const std::string text, disk.read(file));
  std::vector<std::string> warnings;  // the coordinator has shown them
  return parse_run_config(text, file, &warnings);
}

fs::path data_directory(const HelperOptions& options) {
  return options.data.empty() ? default_data_directory() : fs::path(options.data);
}

Result<int> check(const HelperOptions& options) {
  RealFileSystem disk;
  ARENA_ASSIGN(const RunConfig config, read_settings(disk, options.settings));
  ARENA_ASSIGN(const AgentSpec spec, load_agent(disk, data_directory(options), config.agent));
  std::string scratch = (fs::temp_directory_path() / "arena-check-XXXXXX").string();
  if (::mkdtemp(scratch.data()) == nullptr) return fail(error_from_errno(errno, "make", scratch));
  RealProcessRunner runner;
  const auto findings =
      check_agent(runner, spec, config.agent, current_environment(), options.user_home, scratch);
  static_cast<void>(remove_tree(scratch));
  for (const AgentFinding& finding : findings) {
    const nlohmann::ordered_json line = {
        {"what", finding.what}, {"ok", finding.ok}, {"detail", finding.detail}, {"mend", finding.mend}};
    fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  const bool well =
      std::all_of(findings.begin(), findings.end(), [](const auto& finding) { return finding.ok; });
  return well ? 0 : 1;
}

Result<int> print_prompt(const HelperOptions& options) {
  RealFileSystem disk;
  ARENA_ASSIGN(const RunConfig config, read_settings(disk, options.settings));
  ARENA_ASSIGN(const AgentSpec agent, load_agent(disk, data_directory(options), config.agent));
  const fs::path file = fs::path(options.tasks_directory) / options.task / "config.yaml";
  ARENA_ASSIGN(const std::string text, disk.read(file));
  std::vector<std::string> warnings;
  ARENA_ASSIGN(const TaskSpec spec, parse_task_spec(text, file.string(), &warnings));
  PromptInput input{spec, options.architecture, options.workspace, editable_files(spec), {}, ""};
  use_settings(with_defaults(agent, config.agent), input);
  ARENA_ASSIGN(const std::string prompt, build_prompt(data_directory(options) / "prompts", input));
  fmt::print("{}", prompt);
  return 0;
}

}  // namespace

bool is_helper_call(int argc, const char* const* argv) {
  if (argc < 2) return false;
  const std::string_view word = argv[1];
  return word == "check-agent" || word == "prompt";
}

int run_helper(int argc, const char* const* argv) {
  HelperOptions options;
  CLI::App app{"Helpers of arena-coord.", "arena-worker"};
  app.require_subcommand(1);
  CLI::App* const checks = app.add_subcommand("check-agent", "whether the configured agent can work here");
  CLI::App* const prompts = app.add_subcommand("prompt", "the prompt of a task");
  for (CLI::App* sub : {checks, prompts}) {
    sub->add_option("--settings", options.settings, "run configuration")->required();
    sub->add_option("--data-dir", options.data, "directory of agents/ and prompts/");
  }
  checks->add_option("--user-home", options.user_home, "where login files are copied from");
  prompts->add_option("--task", options.task, "name of the task")->required();
  prompts->add_option("--tasks-dir", options.tasks_directory, "directory of the tasks")->required();
  prompts->add_option("--workspace", options.workspace, "the workspace it names");
  prompts->add_option("--architecture", options.architecture, "of the device");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const auto code = checks->parsed() ? check(options) : print_prompt(options);
  if (code) return *code;
  fmt::print(stderr, "{}\n", code.error().message);
  return 2;
}

}  // namespace arena
