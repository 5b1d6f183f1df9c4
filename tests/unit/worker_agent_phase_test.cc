// What becomes of a task, of the queue and of the bill for each way an agent can end. The agent is a shell
// script that speaks Claude Code's dialect.
#include <doctest/doctest.h>

#include "base/text.h"
#include "model/event.h"
#include "queue/halt.h"
#include "queue/queue_builder.h"
#include "worker/agent_check.h"
#include "worker/agent_record.h"
#include "worker/worker_loop.h"
#include "worker_fixture.h"

namespace arena {

namespace {

class AgentWorld : public WorkerWorld {
 public:
  AgentWorld() {
    setup.overload_delay = std::chrono::milliseconds(1);
    setup.user_home = root / "user";
  }

  // Claude Code's definition with a script for its program; `calls` counts how often it ran.
  void use_claude(const std::string& script) {
    const fs::path file =
        fs::path(ARENA_TEST_DATA).parent_path().parent_path() / "worker/agents/claude_code.yaml";
    setup.agent = parse_agent_spec(disk.read(file).value(), "claude_code").value();
    const std::string calls = (root / "calls").string();
    use_script("echo >>" + calls + "; n=$(wc -l <" + calls + ")\n" + script);
  }
  // Braces would be placeholders.
  void use_script(const std::string& script) {
    std::string word;
    for (const char c : script) word += c == '{' || c == '}' ? std::string(2, c) : std::string(1, c);
    setup.agent.argv = {"/bin/sh", "-c", word};
  }
  static std::string init() {
    return R"(echo '{"type":"system","subtype":"init","model":"m-1"}')"
           "\n";
  }
  static std::string work(const std::string& cost) {
    return R"(echo '{"type":"assistant","message":{"content":[{"type":"text","text":"working"}]}}')"
           "\n"
           "echo 'answer=42; cost=" +
           cost + "' >src/kernel.sh\n";
  }
  static std::string result(const std::string& more, int output_tokens) {
    return fmt::format(R"(echo '{{"type":"result","subtype":"success",{},"total_cost_usd":0.5,)"
                       R"("usage":{{"input_tokens":3,"output_tokens":{}}}}}')"
                       "\n",
                       more, output_tokens);
  }
  static std::string failing(int status) {
    return init() + result(fmt::format(R"("is_error":true,"api_error_status":{})", status), 0) + "exit 1\n";
  }
  static std::string done(const std::string& cost) {
    return init() + work(cost) + result(R"("is_error":false)", 9);
  }

  void build(const std::vector<std::string>& names) {
    std::vector<TaskDescriptor> descriptors;
    for (const std::string& name : names) {
      add_task(name, shell_kernel_files());
      TaskDescriptor descriptor = descriptor_of(name, 0);
      descriptor.index = static_cast<std::int64_t>(descriptors.size()) + 1;
      descriptor.total_tasks = static_cast<std::int64_t>(names.size());
      descriptor.claimed_by.clear();
      descriptor.task_config_dir = (root / "tasks" / name / "config.yaml").string();
      descriptor.workspace_path = layout.workspace(name).string();
      descriptors.push_back(descriptor);
    }
    REQUIRE(build_queue(disk, layout, descriptors));
  }
  WorkerExit run_loop() { return WorkerLoop(setup, layout, disk, clock, runner, hooks.end_processes).run(); }
  std::size_t count(QueueState state) { return disk.list(layout.state_directory(state)).value().size(); }
  std::string kept(const std::string& file) {
    return disk.read(layout.workspace("cpp2cpp/a") / "agent" / file).value_or("(no file)");
  }
};

}  // namespace

TEST_SUITE_BEGIN("agent_phase");

TEST_CASE_FIXTURE(AgentWorld, "what an agent said, did and cost is kept beside the result") {
  setup.agent_version = "1.2.3";
  setup.environment["ANTHROPIC_API_KEY"] = "sk-very-secret-key";
  build({"cpp2cpp/a"});
  use_claude(
      "cat >../got_prompt; echo $ANTHROPIC_API_KEY; echo $ANTHROPIC_API_KEY >&2; git --version >/dev/null "
      "2>&1; ls -d .git\n" +
      done("2"));
  CHECK(run_loop() == WorkerExit::all_done);
  const TaskResult result = result_of("cpp2cpp/a");
  CHECK(result.agent.ok);
  CHECK(result.agent.result == "done");
  CHECK(result.agent.model == "m-1");
  CHECK(result.agent.version == "1.2.3");
  CHECK(result.agent.cost_usd == 0.5);
  CHECK(result.agent.tokens == 12);
  CHECK(result.speedup_ratio == doctest::Approx(4));
  CHECK(kept("prompt.md") == read("ws/run_20261201_101500/got_prompt"));
  CHECK(contains(kept("transcript.jsonl"), "\"subtype\":\"init\""));
  CHECK(contains(kept("transcript.jsonl"), "[secret]\n.git\n"));
  CHECK(contains(kept("log.txt"), "working\n"));
  CHECK(contains(kept("stderr.txt"), "[secret]\n"));
  CHECK(contains(kept("changes.patch"), "--- a/src/kernel.sh"));
  CHECK(contains(kept("changes.patch"), "+answer=42; cost=2"));
  CHECK(contains(kept("invocation.yaml"), "version: \"1.2.3\""));
  const CostRecord costs = read_cost_record(kept("cost.yaml"), "cost.yaml").value();
  REQUIRE(costs.attempts.size() == 1);
  CHECK(costs.attempts[0].usage.output_tokens == 9);
  CHECK_FALSE(costs.attempts[0].usage.cached_tokens);
  CHECK(disk.read(layout.agent_cost("cpp2cpp/a")) == kept("cost.yaml"));
  for (const char* file : {"transcript.jsonl", "log.txt", "stderr.txt", "invocation.yaml"})
    CHECK_FALSE(contains(kept(file), "sk-very-secret"));
}

TEST_CASE_FIXTURE(
    AgentWorld, "quota and a refused login halt the run, use up no attempt, and leave nothing to evaluate") {
  for (const auto& [status, cause] : {std::pair(429, "quota"), std::pair(401, "auth")}) {
    AgentWorld world;
    CAPTURE(status);
    world.build({"cpp2cpp/a", "cpp2cpp/b"});
    world.use_claude(work("2") + failing(status));
    CHECK(world.run_loop() == WorkerExit::stopped);
    CHECK(world.count(QueueState::pending) == 2);
    const auto halt = read_halt(world.disk, world.layout.halt_file()).value();
    REQUIRE(halt);
    CHECK(halt->cause == cause);
    CHECK_FALSE(world.disk.exists(world.layout.candidate("cpp2cpp/a")).value());

    REQUIRE(clear_halt(world.disk, world.layout.halt_file()));
    world.use_claude(done("4"));
    CHECK(world.run_loop() == WorkerExit::all_done);
    CHECK(world.count(QueueState::done) == 2);
    const CostRecord costs =
        read_cost_record(world.disk.read(world.layout.agent_cost("cpp2cpp/a")).value(), "c").value();
    CHECK(costs.attempts.size() == 2);
    CHECK(world.result_of("cpp2cpp/a").agent.cost_usd == 1.0);
  }
}

TEST_CASE_FIXTURE(AgentWorld, "an overload is tried again as an infrastructure failure") {
  build({"cpp2cpp/a"});
  use_claude("if [ $n -lt 3 ]; then " + failing(529) + "fi\n" + done("2"));
  CHECK(run_loop() == WorkerExit::all_done);
  CHECK(result_of("cpp2cpp/a").attempt == 3);
  AgentWorld hopeless;
  hopeless.build({"cpp2cpp/a"});
  hopeless.use_claude(failing(503));
  CHECK(hopeless.run_loop() == WorkerExit::some_failed);
  CHECK(hopeless.read("calls") == "\n\n\n");
}

TEST_CASE_FIXTURE(AgentWorld, "two successes of nothing in a row stop the run; one does not") {
  build({"cpp2cpp/a", "cpp2cpp/b", "cpp2cpp/c", "cpp2cpp/d", "cpp2cpp/e"});
  const std::string nothing = init() + result(R"("is_error":false)", 0);
  use_claude("if [ $n = 2 ]; then " + done("2") + "else " + nothing + "fi\n");
  CHECK(run_loop() == WorkerExit::stopped);
  CHECK(count(QueueState::done) == 1);
  CHECK(count(QueueState::failed) == 3);
  CHECK(count(QueueState::pending) == 1);
  CHECK(read_halt(disk, layout.halt_file()).value()->cause == "agent");
}

TEST_CASE_FIXTURE(AgentWorld, "an agent that failed and changed nothing is no score") {
  add_task("cpp2cpp/a", shell_kernel_files());
  use_claude("echo it broke; exit 3");
  const AttemptOutcome outcome = attempt("cpp2cpp/a");
  CHECK(outcome.cause == CauseClass::agent_error);
  CHECK(contains(outcome.message, "exit code 3"));
  CHECK(contains(outcome.message, "it broke"));
  CHECK_FALSE(outcome.candidate_kept);
}

TEST_CASE_FIXTURE(AgentWorld, "a refusal is scored, and silence is not") {
  add_task("cpp2cpp/a", shell_kernel_files());
  use_claude(init() + result(R"("is_error":false,"stop_reason":"refusal")", 4));
  CHECK(complete("cpp2cpp/a").agent.result == "refusal");
  setup.agent.idle_timeout_seconds = 1;
  use_script(init() + "sleep 600");
  const AttemptOutcome outcome = attempt("cpp2cpp/a", 2);
  CHECK(outcome.cause == CauseClass::timed_out);
  CHECK(contains(outcome.message, "silent for 1 s"));
}

TEST_CASE_FIXTURE(AgentWorld,
                  "check-agent finds what is missing, in the order in which it has to be mended") {
  use_claude(init() + result(R"("is_error":false,"result":"ready")", 1));
  const auto check = [this] {
    const fs::path scratch = root / "scratch";
    fs::remove_all(scratch);
    fs::create_directories(scratch);
    return check_agent(runner, setup.agent, {}, {{"PATH", "/usr/bin:/bin"}}, setup.user_home, scratch);
  };
  setup.agent.version_argv = {"no-such-program", "--version"};
  auto findings = check();
  REQUIRE(findings.size() == 1);
  CHECK_FALSE(findings[0].ok);
  CHECK(findings[0].mend == "npm install -g @anthropic-ai/claude-code");
  setup.agent.version_argv = {"echo", "2.0"};
  setup.agent.login->argv = {"echo", R"({"loggedIn": false})"};
  findings = check();
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].detail == "2.0");
  CHECK(findings[1].what == "login");
  CHECK_FALSE(findings[1].ok);
  setup.agent.login->argv = {"echo", R"({"loggedIn": true})"};
  findings = check();
  REQUIRE(findings.size() == 3);
  CHECK(findings[2].what == "answer");
  CHECK(findings[2].ok);
  CHECK(findings[2].detail == "model m-1");
  use_script(failing(401));
  findings = check();
  CHECK_FALSE(findings.at(2).ok);
  CHECK(contains(findings.at(2).detail, "auth"));
}

TEST_SUITE_END();

}  // namespace arena
