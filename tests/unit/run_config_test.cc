#include "model/run_config.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace arena {

namespace {

constexpr const char* kMinimal = "agent:\n  template: nop\ntasks:\n  - all\n";

RunConfig parsed(const std::string& text) {
  std::vector<std::string> warnings;
  const auto config = parse_run_config(text, "run.yaml", &warnings);
  if (!config) FAIL(config.error().message);
  CHECK(warnings.empty());
  return *config;
}

std::string error_of(const std::string& text) {
  std::vector<std::string> warnings;
  const auto config = parse_run_config(text, "run.yaml", &warnings);
  REQUIRE_FALSE(config);
  CHECK(config.error().code == ErrorCode::invalid_input);
  return config.error().message;
}

std::string with(const std::string& line) { return kMinimal + line + "\n"; }
std::string with_agent(const std::string& line) {
  return "agent:\n  template: claude_code\n  " + line + "\ntasks: [all]\n";
}

}  // namespace

TEST_SUITE_BEGIN("run_config");

TEST_CASE("a configuration of v0.2 is read as it is") {
  const RunConfig config = parsed(
      "agent:\n  template: claude_code\n  model: some-model\n  effort: max\n  max_iterations: 3\n  "
      "timeout_seconds: 3600\n  python_path: python3\n"
      "tasks:\n  - hip2hip/gpumode\n  - all\ntarget_gpu_model: MI300X\nlog_directory: "
      "logs\nworkspace_directory_prefix: workspace\n");
  CHECK(config.agent.template_name == "claude_code");
  CHECK(config.agent.model == "some-model");
  CHECK(config.agent.effort == "max");
  CHECK(config.agent.max_iterations == 3);
  CHECK(config.agent.timeout_seconds == 3600);
  CHECK(config.tasks == std::vector<std::string>{"hip2hip/gpumode", "all"});
  CHECK(config.target_gpu_model == "MI300X");
}

TEST_CASE("what is not given has its default") {
  const RunConfig config = parsed(kMinimal);
  CHECK(config.target_gpu_model == "CPU");
  CHECK(config.score_formula == ScoreFormula::points);
  CHECK(config.max_attempts == 3);
  CHECK(config.compile_timeout == std::chrono::hours(1));
  CHECK(config.output_limit_bytes == 16 << 20);
  CHECK_FALSE(config.agent.model);
  CHECK_FALSE(config.agent.model_is_null);
}

TEST_CASE("a template's name may be written in any case and with dashes") {
  for (const char* name : {"claude_code", "Claude-Code", "CLAUDE_CODE", "\" claude-code \""}) {
    CHECK(parsed(std::string("agent: {template: ") + name + "}\ntasks: all\n").agent.template_name ==
          "claude_code");
  }
  for (const char* bad : {"~", "''", "a/b", "..", "-x", "[a]"}) {
    CAPTURE(bad);
    CHECK(contains(error_of(std::string("agent: {template: ") + bad + "}\ntasks: all\n"), "agent.template"));
  }
}

TEST_CASE("explicit null is kept apart from absent") {
  const RunConfig config = parsed(with_agent("model: null\n  effort:"));
  CHECK(config.agent.model_is_null);
  CHECK(config.agent.effort_is_null);
  CHECK(canonical_text(config) != canonical_text(parsed(with_agent("model: 'null'\n  effort:"))));
}

TEST_CASE("every error names file, line and key") {
  CHECK(error_of(with_agent("timeout_secnds: 5")) ==
        "run.yaml:3: agent.timeout_secnds: unknown key; did you mean agent.timeout_seconds?");
  CHECK(error_of(with("taks: 1")) == "run.yaml:5: taks: unknown key; did you mean tasks?");
  CHECK(error_of(with("max_attempts: 30s")) ==
        "run.yaml:5: max_attempts: expected a whole number, not '30s'");
  CHECK(error_of(with("max_attempts: 0")) ==
        "run.yaml:5: max_attempts: expected a whole number from 1 to 100, not 0");
  CHECK(error_of(with("score_formula: best")) ==
        "run.yaml:5: score_formula: unknown formula 'best'; known are points, points_strict, bounded");
  CHECK(error_of("") == "run.yaml:1: expected keys with values, not nothing");
  CHECK(error_of("tasks: all\n") == "run.yaml:1: agent: required, but missing");
  CHECK(contains(error_of("agent:\ntasks: all\n"), "run.yaml:1: agent: expected keys with values"));
  CHECK(
      contains(error_of("agent: claude_code\ntasks: all\n"), "run.yaml:1: agent: expected keys with values"));
  CHECK(contains(error_of("agent:\n  template: nop\n"), "run.yaml:1: tasks: expected at least one task"));
  CHECK(contains(error_of("agent:\n  template: nop\ntasks: []\n"),
                 "run.yaml:3: tasks: expected at least one task"));
  CHECK(contains(error_of("agent:\n  template: nop\ntasks: ['']\n"), "run.yaml:3: tasks: "));
}

TEST_CASE("keys of later versions are said to be not supported yet") {
  CHECK(error_of(with_agent("backend: codex")) == "run.yaml:3: agent.backend: not supported yet");
  CHECK(error_of(with_agent("reasoning_effort: high")) ==
        "run.yaml:3: agent.reasoning_effort: not supported yet");
  CHECK(error_of(with("budget: {task_wall_time_s: 60}")) == "run.yaml:5: budget: not supported yet");
  CHECK(error_of(with("resources:")) == "run.yaml:5: resources: not supported yet");
}

TEST_CASE("every number has its range and its type") {
  for (const char* key : {"max_attempts", "max_evaluations", "compile_timeout", "correctness_timeout",
                          "performance_timeout", "setup_timeout", "output_limit_bytes"}) {
    for (const char* bad : {"-5", "0", "1.5", "010", "'3'", "99999999999", "[1]", "true"}) {
      CAPTURE(key);
      CAPTURE(bad);
      CHECK(contains(error_of(with(std::string(key) + ": " + bad)), std::string("run.yaml:5: ") + key));
    }
  }
  CHECK(parsed(with("setup_timeout: 60")).setup_timeout == std::chrono::minutes(1));
  CHECK(parsed(with_agent("timeout_seconds: 0")).agent.timeout_seconds == 0);
  CHECK(parsed(with_agent("max_budget_usd: 2.5")).agent.max_budget_usd == 2.5);
  for (const char* bad :
       {"timeout_seconds: -1", "timeout_seconds: true", "max_iterations: 0", "max_budget_usd: 0",
        "max_budget_usd: .inf", "max_budget_usd: .nan", "max_budget_usd: '1'", "model: ''", "model: [a]"}) {
    CAPTURE(bad);
    const std::string key = std::string(bad).substr(0, std::string(bad).find(':'));
    CHECK(contains(error_of(with_agent(bad)), "run.yaml:3: agent." + key));
  }
}

TEST_CASE("names that become part of a path are plain") {
  for (const char* key : {"target_gpu_model", "workspace_directory_prefix"}) {
    for (const char* bad : {"a/b", "..", "''", "~", "'a b'", "-x", ".x",
                            "gr\xC3\xBC"
                            "n"}) {
      CAPTURE(bad);
      CHECK(contains(error_of(with(std::string(key) + ": " + bad)), key));
    }
  }
  CHECK(parsed(with("workspace_directory_prefix: my-runs_2.0")).workspace_directory_prefix == "my-runs_2.0");
}

TEST_CASE("a command belongs to the template command, and only to it") {
  const RunConfig config =
      parsed("agent:\n  template: command\n  command: [sh, -c, 'true']\n  env: [MY_KEY]\ntasks: all\n");
  CHECK(config.agent.command == std::vector<std::string>{"sh", "-c", "true"});
  CHECK(config.agent.env == std::vector<std::string>{"MY_KEY"});
  CHECK(contains(error_of(with_agent("command: [x]")),
                 "run.yaml:3: agent.command: only the template 'command' takes it"));
  CHECK(contains(error_of("agent:\n  template: command\ntasks: all\n"), "agent.command: required"));
  for (const char* bad : {"make all", "[]", "['']", "[[a]]", "{a: b}"}) {
    CAPTURE(bad);
    CHECK(contains(error_of("agent:\n  template: command\n  command: " + std::string(bad) + "\ntasks: all\n"),
                   "agent.command"));
  }
  for (const char* bad : {"[A-B]", "['']", "[1A]", "[ARENA_RUN_ID]", "['A=b']"}) {
    CAPTURE(bad);
    CHECK(contains(error_of(with_agent(std::string("env: ") + bad)), "agent.env"));
  }
}

TEST_CASE("a written configuration reads back the same") {
  const RunConfig config = parsed(
      "agent:\n  template: command\n  model: null\n  effort: 'yes'\n  max_iterations: 5\n  timeout_seconds: "
      "0\n  max_budget_usd: 0.1\n"
      "  python_path: /opt/py\n  command: [a, '{workspace}', \"x\\ny\"]\n  env: [A, B]\ntasks: [x, 'y "
      "z/*']\ntarget_gpu_model: RDNA4\n"
      "log_directory: /tmp/l\nworkspace_directory_prefix: w\nscore_formula: bounded\nmax_attempts: "
      "5\nmax_evaluations: 7\ncompile_timeout: 1\n"
      "correctness_timeout: 2\nperformance_timeout: 3\nsetup_timeout: 4\noutput_limit_bytes: 4096\n");
  const std::string written = write_run_config(config);
  const RunConfig back = parsed(written);
  CHECK(write_run_config(back) == written);
  CHECK(canonical_text(back) == canonical_text(config));
  CHECK(back.tasks == config.tasks);
  CHECK(back.max_evaluations == 7);
  CHECK(back.output_limit_bytes == 4096);
  CHECK(back.agent.command == config.agent.command);
}

TEST_CASE("only what can change a result is compared on resume") {
  const std::string base = canonical_text(parsed(kMinimal));
  for (const char* same : {"log_directory: elsewhere", "workspace_directory_prefix: w", "max_attempts: 9",
                           "max_evaluations: 9", "output_limit_bytes: 5000", "# comment"}) {
    CAPTURE(same);
    CHECK(canonical_text(parsed(with(same))) == base);
  }
  for (const char* other : {"target_gpu_model: MI300", "score_formula: bounded", "compile_timeout: 1",
                            "correctness_timeout: 1", "performance_timeout: 1", "setup_timeout: 1"}) {
    CAPTURE(other);
    CHECK(canonical_text(parsed(with(other))) != base);
  }
  CHECK(base ==
        "agent.template: nop\ncompile_timeout: 3600\ncorrectness_timeout: 3600\nperformance_timeout: "
        "3600\nscore_formula: points\n"
        "setup_timeout: 7200\ntarget_gpu_model: CPU\n");
}

TEST_CASE("known models have their architecture, unknown ones a warning") {
  CHECK(architecture_of_model("MI300X") == "gfx942");
  CHECK(architecture_of_model("mi355x") == "gfx950");
  CHECK(architecture_of_model("RDNA4") == "gfx1201");
  CHECK(architecture_of_model("CPU") == "");
  CHECK_FALSE(architecture_of_model("MI999"));
  std::vector<std::string> warnings;
  CHECK(parse_run_config(with("target_gpu_model: MI999"), "run.yaml", &warnings));
  REQUIRE(warnings.size() == 1);
  CHECK(contains(warnings[0], "run.yaml:5: target_gpu_model: "));
}

TEST_SUITE_END();

}  // namespace arena
