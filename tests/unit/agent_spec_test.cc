#include "model/agent_spec.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace arena {

namespace {

AgentSpec parsed(const std::string& text) {
  const auto spec = parse_agent_spec(text, "some");
  if (!spec) FAIL(spec.error().message);
  return *spec;
}

std::string error_of(const std::string& text) {
  const auto spec = parse_agent_spec(text, "some");
  REQUIRE_FALSE(spec);
  CHECK(spec.error().code == ErrorCode::invalid_input);
  return spec.error().message;
}

}  // namespace

TEST_SUITE_BEGIN("agent_spec");

TEST_CASE("an agent is read from its file") {
  const AgentSpec spec = parsed(
      "description: d\naction: run\nargv: [tool, --dir, '{workspace}']\nprompt: "
      "stdin\nenvironment_names: [KEY]\n"
      "environment: {A: '1', B: 2}\naccepted_settings: [model, effort]\ndefault_timeout_seconds: 60\n");
  CHECK(spec.name == "some");
  CHECK(spec.action == AgentSpec::Action::run);
  REQUIRE(spec.argv.size() == 3);
  CHECK(spec.argv[2].words == std::vector<std::string>{"{workspace}"});
  CHECK(spec.prompt_on_stdin);
  CHECK(spec.environment.at("B") == "2");
  CHECK(spec.default_timeout_seconds == 60);
  CHECK(parsed("description: d\naction: run\nargv: agent.command\n").argv_from_config);
  CHECK(parsed("description: d\naction: apply_solution\nsees_solution: yes\n").sees_solution);
  CHECK(parsed("description: d\naction: none\n").default_timeout_seconds == 3600);
}

TEST_CASE("a faulty agent file names line and key") {
  CHECK(error_of("action: none\n") == "some.yaml:1: description: required, but missing or empty");
  CHECK(error_of("description: d\naction: fly\n") ==
        "some.yaml:2: action: expected none, apply_solution or run");
  CHECK(contains(error_of("description: d\naction: run\n"), "argv: the action run needs a program"));
  CHECK(contains(error_of("description: d\naction: run\nargv: []\n"), "some.yaml:3: argv"));
  CHECK(contains(error_of("description: d\naction: run\nargv: make all\n"),
                 "some.yaml:3: argv: expected a list"));
  CHECK(contains(error_of("description: d\naction: none\nargv: [x]\n"), "some.yaml:3: argv: belongs to"));
  CHECK(contains(error_of("description: d\naction: none\naccepted_settings: [modl]\n"),
                 "'modl' is no setting"));
  CHECK(contains(error_of("description: d\naction: none\nenvironment: [A]\n"), "some.yaml:3: environment"));
  CHECK(
      contains(error_of("description: d\naction: none\nenvironment: {A: ~}\n"), "some.yaml:3: environment"));
  CHECK(contains(error_of("description: d\naction: none\nsees_solutin: true\n"),
                 "did you mean sees_solution?"));
}

TEST_CASE("settings that an agent cannot take are refused, each of them") {
  const AgentSpec nop = parsed("description: d\naction: none\n");
  CHECK(check_agent_settings(nop, {}));
  std::vector<std::pair<std::string, AgentSettings>> cases(12);
  cases[0].first = "model", cases[0].second.model = "m";
  cases[1].first = "effort", cases[1].second.effort = "e";
  cases[2].first = "max_iterations", cases[2].second.max_iterations = 1;
  cases[3].first = "timeout_seconds", cases[3].second.timeout_seconds = 1;
  cases[4].first = "max_budget_usd", cases[4].second.max_budget_usd = 1;
  cases[5].first = "python_path", cases[5].second.python_path = "p";
  cases[6].first = "command", cases[6].second.command = {"c"};
  cases[7].first = "env", cases[7].second.env = {"E"};
  cases[8].first = "budget_mode", cases[8].second.time_budget = true;
  cases[9].first = "gpu_ids", cases[9].second.gpu_ids = "0";
  cases[10].first = "num_parallel", cases[10].second.num_parallel = 2;
  cases[11].first = "run_mode", cases[11].second.run_mode = "m";
  for (const auto& one : cases) {
    const auto& key = one.first;
    const auto& settings = one.second;
    CAPTURE(key);
    const auto status = check_agent_settings(nop, settings);
    REQUIRE_FALSE(status);
    CHECK(contains(status.error().message, "agent." + key + ": the agent 'some' does not take it"));
    CHECK(check_agent_settings(parsed("description: d\naction: none\naccepted_settings: [" + key + "]\n"),
                               settings));
  }
  AgentSettings null_model;
  null_model.model_is_null = true;  // asks for nothing
  CHECK(check_agent_settings(nop, null_model));
}

TEST_CASE("a placeholder without a value is found before anything runs") {
  const AgentSpec command =
      parsed("description: d\naction: run\nargv: agent.command\naccepted_settings: [command, model]\n");
  AgentSettings settings;
  settings.command = {"x", "{workspace}/{prompt_file}", "{model}"};
  CHECK(contains(check_agent_settings(command, settings).error().message, "unknown placeholder {model}"));
  settings.model = "m";
  CHECK(check_agent_settings(command, settings));
  CHECK(setting_placeholders(settings).at("model") == "m");
  settings.command = {"{wrkspace}"};
  CHECK_FALSE(check_agent_settings(command, settings));
}

TEST_SUITE_END();

}  // namespace arena
