// Whole attempts at small tasks, with real processes and a real directory.
#include <doctest/doctest.h>

#include "base/text.h"
#include "worker/candidate.h"
#include "worker_fixture.h"

namespace arena {

TEST_SUITE_BEGIN("worker");

namespace {

const std::string kTask = "cpp2cpp/toy";
using Names = std::vector<std::string>;

std::string workspace_name() { return "ws/run_20261201_101500/cpp2cpp_toy_20261201_101500/"; }
std::string attempt_name(int attempt) {
  return fmt::format("ws/run_20261201_101500/.attempts/cpp2cpp_toy/{}/", attempt);
}

}  // namespace

TEST_CASE_FIXTURE(WorkerWorld, "the oracle's solution is measured against the baseline and scored") {
  add_task(kTask, shell_kernel_files());
  use_oracle();
  const TaskResult result = complete(kTask);
  CHECK(result.pass_compilation);
  CHECK(result.pass_correctness);
  CHECK(result.base_execution_time == doctest::Approx(44));
  CHECK(result.best_optimized_execution_time == doctest::Approx(11));
  CHECK(result.speedup_ratio == doctest::Approx(4));
  CHECK(result.score == doctest::Approx(520));
  CHECK(result.score_formula == "points");
  CHECK(result.valid_baseline_cases == 2);
  CHECK(result.valid_optimized_cases == 2);
  CHECK(result.changed_files == Names{"src/kernel.sh"});
  CHECK(result.ignored_changes.empty());
  CHECK(result.run_id == setup.run.run_id);
  CHECK(result.attempt == 1);
  CHECK(result.worker_id == "0.1");
  CHECK(result.device == "cpu slot 0");
  CHECK(result.optimization_summary == "Optimized by oracle using centralized evaluator");
  CHECK(contains(result.proofs.at("agent"), "no process left"));
  for (const char* phase :
       {"setup", "baseline", "agent", "evaluation", "compile", "correctness", "performance"}) {
    CHECK_MESSAGE(result.durations_ms.count(phase) == 1, phase);
  }
  for (const char* file : {"baseline_perf.yaml", "optimized_perf.yaml", "logs/baseline_compile.log",
                           "logs/compile.log", "logs/correctness.log", "logs/performance.log"}) {
    CHECK_MESSAGE(exists(workspace_name() + file), file);
  }
  for (const char* directory : {"baseline", "evaluation", "home", "candidate.new"}) {
    CHECK_MESSAGE(!exists(attempt_name(1) + directory), directory);
  }
}

TEST_CASE_FIXTURE(WorkerWorld, "an agent that changes nothing gets the measured ratio, not a made-up one") {
  // The time of the n-th measurement is n: baseline 1, candidate 2.
  Files files = shell_kernel_files();
  files["test/time.sh"] = fmt::format(
      "n=$(cat {0} 2>/dev/null || echo 0); n=$((n + 1)); echo $n > {0}; echo \"Performance: $n ms\"\n",
      (root / "counter").string());
  add_task(kTask, files);
  use_nop();
  const TaskResult result = complete(kTask);
  CHECK(result.speedup_ratio == doctest::Approx(0.5));
  CHECK(result.changed_files.empty());
  CHECK(result.agent.end == "changed nothing");
  CHECK_FALSE(exists(workspace_name() + "solution"));
}

TEST_CASE_FIXTURE(WorkerWorld, "a candidate that does not compile is a result with the compiler's words") {
  add_task(kTask, shell_kernel_files());
  use_agent("echo 'if then' > src/kernel.sh");
  const TaskResult result = complete(kTask);
  CHECK_FALSE(result.pass_compilation);
  REQUIRE(result.compilation_error_message);
  CHECK(contains(*result.compilation_error_message, "exit code 2"));
  CHECK(contains(to_lower(*result.compilation_error_message), "syntax error"));
  CHECK_FALSE(result.correctness_error_message);
  CHECK(result.score == 0);
  CHECK(result.base_execution_time == doctest::Approx(44));
  CHECK_FALSE(result.best_optimized_execution_time);
  CHECK(result.not_measured.at("speedup_ratio") == "the candidate does not compile");
}

TEST_CASE_FIXTURE(WorkerWorld, "a wrong candidate is a result without a timing, whatever its exit code") {
  add_task(kTask, shell_kernel_files());
  use_agent("echo 'answer=41; cost=1' > src/kernel.sh");
  const TaskResult result = complete(kTask);
  CHECK(result.pass_compilation);
  CHECK_FALSE(result.pass_correctness);
  REQUIRE(result.correctness_error_message);
  CHECK(contains(*result.correctness_error_message, "FAIL: 41"));
  CHECK(result.score == 20);
  CHECK_FALSE(result.speedup_ratio);
  CHECK_FALSE(exists(workspace_name() + "optimized_perf.yaml"));
}

TEST_CASE_FIXTURE(WorkerWorld, "a task that reports no time has no speedup and says why") {
  add_task(kTask, shell_kernel_files(), {{"test/time.sh", "echo done\n"}});
  use_oracle();
  const TaskResult result = complete(kTask);
  CHECK(result.pass_correctness);
  CHECK_FALSE(result.base_execution_time);
  CHECK_FALSE(result.speedup_ratio);
  CHECK(contains(result.not_measured.at("base_execution_time"),
                 "neither a report file nor the output holds a timing"));
  CHECK(result.speedup_calculation_error_message);
  CHECK(result.score == 120);
}

TEST_CASE_FIXTURE(WorkerWorld, "a report that the performance command did not write is never read") {
  // Compiling leaves a stale report; the performance command itself writes none.
  add_task(kTask, shell_kernel_files(),
           {{"config.yaml",
             "task_type: cpp2cpp\nsource_file_path: [src/kernel.sh]\ntarget_kernel_functions: [kernel]\n"
             "compile_command: ['mkdir -p build perf; echo \"[{\\\"execution_time_ms\\\": 1}]\" | tee"
             " build/performance_report.json performance_report.json perf/benchmark_results.json']\n"
             "correctness_command: ['true']\nperformance_command: ['true']\n"}});
  use_nop();
  const TaskResult result = complete(kTask);
  CHECK(result.valid_baseline_cases == 0);
  CHECK(result.valid_optimized_cases == 0);
}

TEST_CASE_FIXTURE(WorkerWorld, "a report path that is a directory stops the measurement") {
  add_task(kTask, shell_kernel_files(), {{"performance_report.json/x", "x"}});
  use_nop();
  CHECK(contains(complete(kTask).not_measured.at("base_execution_time"),
                 "'performance_report.json' is a directory"));
}

TEST_CASE_FIXTURE(WorkerWorld, "a performance command that fails gives no times, whatever it printed") {
  add_task(kTask, shell_kernel_files(), {{"test/time.sh", "echo 'Performance: 1 ms'; exit 3\n"}});
  use_nop();
  CHECK(contains(complete(kTask).not_measured.at("base_execution_time"), "exit code 3"));
}

TEST_CASE_FIXTURE(WorkerWorld, "a command that runs too long is a verdict that says so") {
  add_task(kTask, shell_kernel_files(), {{"test/check.sh", "sleep 600\n"}});
  setup.run.config.correctness_timeout = std::chrono::seconds(1);
  use_nop();
  const TaskResult result = complete(kTask);
  CHECK_FALSE(result.pass_correctness);
  CHECK(contains(result.correctness_error_message.value_or(""), "timed out"));
}

TEST_CASE_FIXTURE(WorkerWorld, "an agent that edits the harness changes nothing but its own workspace") {
  add_task(kTask, shell_kernel_files());
  use_agent(
      "echo 'echo PASS' > test/check.sh; echo 'echo Performance: 0.001 ms' > test/time.sh;"
      "echo 'answer=1; cost=8' > src/kernel.sh; echo 'x' > conftest.py; chmod 000 test");
  const TaskResult result = complete(kTask);
  CHECK_FALSE(result.pass_correctness);
  CHECK(result.changed_files == Names{"src/kernel.sh"});
  CHECK(std::count(result.ignored_changes.begin(), result.ignored_changes.end(), "conftest.py") == 1);
  CHECK(std::count(result.ignored_changes.begin(), result.ignored_changes.end(), "test/check.sh") == 1);
}

TEST_CASE_FIXTURE(WorkerWorld,
                  "results and logs that an agent planted are replaced, and links never written through") {
  add_task(kTask, shell_kernel_files());
  write("victim", "untouched");
  write("victims/agent.log", "untouched");
  use_agent(fmt::format(
      "ln -s {0}/victim task_result.yaml; ln -s {0}/victims logs; mkdir -p baseline_perf.yaml/deep;"
      "ln -s {0}/victim optimized_perf.yaml; chmod 555 .",
      root.string()));
  const TaskResult result = complete(kTask);
  CHECK(result.speedup_ratio == doctest::Approx(1));
  CHECK(read("victim") == "untouched");
  CHECK(read("victims/agent.log") == "untouched");
  CHECK(exists(workspace_name() + "logs/correctness.log"));
  CHECK(contains(read(workspace_name() + "baseline_perf.yaml"), "test_cases"));
}

TEST_CASE_FIXTURE(WorkerWorld, "a candidate file that is a link, a FIFO or gone counts as deleted") {
  add_task(kTask, shell_kernel_files());
  write("outside.sh", "answer=42\ncost=1\n");
  for (const std::string& how :
       {"ln -sf " + (root / "outside.sh").string() + " src/kernel.sh",
        std::string("rm src/kernel.sh; mkfifo src/kernel.sh"), std::string("rm src/kernel.sh"),
        "rm -r src; ln -s " + root.string() + " src; cp outside.sh kernel.sh"}) {
    CAPTURE(how);
    use_agent(how);
    const TaskResult result = complete(kTask);
    CHECK_FALSE(result.pass_compilation);
    CHECK(result.changed_files == Names{"src/kernel.sh"});
    REQUIRE(remove_tree(layout.run_directory()));
    fs::create_directories(layout.run_directory());
  }
}

TEST_CASE_FIXTURE(WorkerWorld, "what an agent writes into other places of its attempt is not used") {
  add_task(kTask, shell_kernel_files());
  use_agent(
      "a=${{HOME%/home/*}}; mkdir -p $a/evaluation/src; echo 'answer=42; cost=1' > "
      "$a/evaluation/src/kernel.sh;"
      "echo 'answer=42; cost=1' > $a/baseline/src/kernel.sh");
  const TaskResult result = complete(kTask);
  CHECK(result.speedup_ratio == doctest::Approx(1));
}

TEST_CASE_FIXTURE(WorkerWorld, "an agent that changed the task itself makes the attempt a task error") {
  add_task(kTask, shell_kernel_files());
  use_agent(fmt::format("echo 'echo PASS' > {}/tasks/{}/test/check.sh", root.string(), kTask));
  const AttemptOutcome outcome = attempt(kTask);
  CHECK(outcome.cause == CauseClass::task_error);
  CHECK(contains(outcome.message, "its files have changed"));
  CHECK_FALSE(exists(workspace_name() + "task_result.yaml"));
}

TEST_CASE_FIXTURE(WorkerWorld, "torch2hip times the original with --baseline_only and does not compile it") {
  add_task("torch2hip/toy",
           {{"config.yaml",
             "task_type: torch2hip\nsource_file_path: [model.py]\ntarget_file_path: hip/k.hip\n"
             "target_kernel_functions: [forward]\ncompile_command: ['test -f hip/k.hip']\n"
             "correctness_command: ['echo pass']\nperformance_command: ['sh eval/perf.sh']\n"},
            {"model.py", "x = 1\n"},
            {"eval/perf.sh",
             "mkdir -p build\nif [ \"$1\" = --baseline_only ]; then echo "
             "'[{\"test_case_id\":\"a\",\"ori_time\":6}]';\n"
             "else echo '[{\"test_case_id\":\"a\",\"ori_time\":6,\"opt_time\":2}]'; fi > "
             "build/performance_report.json\n"}});
  use_agent("mkdir -p hip; echo kernel > hip/k.hip");
  const TaskResult result = complete("torch2hip/toy");
  CHECK(result.pass_compilation);
  CHECK(result.speedup_ratio == doctest::Approx(3));
  CHECK(result.changed_files == Names{"hip/k.hip"});
  CHECK_FALSE(exists("ws/run_20261201_101500/torch2hip_toy_20261201_101500/logs/baseline_compile.log"));
}

TEST_CASE_FIXTURE(WorkerWorld, "the agent works on after a baseline that does not compile") {
  add_task(kTask, shell_kernel_files(), {{"src/kernel.sh", "if then\n"}});
  use_oracle();
  const TaskResult result = complete(kTask);
  CHECK(result.pass_correctness);
  CHECK_FALSE(result.base_execution_time);
  CHECK(contains(result.not_measured.at("base_execution_time"), "the baseline does not compile"));
  CHECK(result.best_optimized_execution_time == doctest::Approx(11));
}

TEST_CASE_FIXTURE(WorkerWorld,
                  "an agent that fails or runs out of time is recorded, and its tree evaluated") {
  add_task(kTask, shell_kernel_files());
  use_agent("echo 'answer=42; cost=4' > src/kernel.sh; exit 7");
  TaskResult result = complete(kTask, 1);
  CHECK_FALSE(result.agent.ok);
  CHECK(result.agent.end == "exit code 7");
  CHECK(result.speedup_ratio == doctest::Approx(2));

  use_agent("echo 'answer=42; cost=2' > src/kernel.sh; sleep 600");
  setup.run.config.agent.timeout_seconds = 1;
  result = complete(kTask, 2);
  CHECK_FALSE(result.agent.ok);
  CHECK(contains(result.agent.end, "timed out"));
  CHECK(result.speedup_ratio == doctest::Approx(4));
}

TEST_CASE_FIXTURE(WorkerWorld, "an agent that cannot be started is an agent error") {
  add_task(kTask, shell_kernel_files());
  use_agent("");
  setup.agent.argv = {"/nowhere/agent"};
  const AttemptOutcome outcome = attempt(kTask);
  CHECK(outcome.cause == CauseClass::agent_error);
  CHECK(contains(outcome.message, "/nowhere/agent"));
  CHECK_FALSE(outcome.candidate_kept);

  setup.agent.argv = {"/bin/sh", "{modle}"};
  CHECK(attempt(kTask, 2).cause == CauseClass::agent_error);
}

TEST_CASE_FIXTURE(
    WorkerWorld,
    "the agent gets the prompt on its standard input, placeholders in its words and a private home") {
  add_task(kTask, shell_kernel_files());
  use_agent(
      "cat > from_stdin; cp {prompt_file} from_file; echo {workspace} {task_name} > words; env > "
      "environment");
  setup.environment["SECRET_KEY"] = "s";
  setup.environment["ALLOWED_KEY"] = "a";
  setup.environment["ARENA_TEST_STEP_X"] = "s";
  setup.agent.environment_names = {"ALLOWED_KEY"};
  setup.agent.environment = {{"FIXED", "1"}};
  complete(kTask);
  CHECK(contains(read(workspace_name() + "from_stdin"), "sh test/check.sh"));
  CHECK(read(workspace_name() + "from_stdin") == read(workspace_name() + "from_file"));
  CHECK(read(workspace_name() + "agent/prompt.md") == read(workspace_name() + "from_stdin"));
  CHECK(read(workspace_name() + "words") == layout.workspace(kTask).string() + " " + kTask + "\n");
  const std::string environment = read(workspace_name() + "environment");
  CHECK(contains(environment, "ALLOWED_KEY=a"));
  CHECK(contains(environment, "FIXED=1"));
  CHECK(contains(environment, "ARENA_WORKER=0123456789abcdef/0.1"));
  CHECK(contains(environment, "HOME=" + (root / attempt_name(1) / "home").string()));
  CHECK_FALSE(contains(environment, "SECRET_KEY"));
  CHECK_FALSE(contains(environment, "ARENA_TEST_STEP_X"));
}

TEST_CASE_FIXTURE(
    WorkerWorld,
    "processes that an agent leaves behind are ended before the evaluation, and the proof says so") {
  add_task(kTask, shell_kernel_files());
  use_agent("setsid sleep 600 > /dev/null 2>&1 & echo $! > pid");
  const TaskResult result = complete(kTask);
  CHECK(contains(result.proofs.at("agent"), "had outlived the agent"));
  CHECK_FALSE(fs::exists("/proc/" + std::string(trim(read(workspace_name() + "pid")))));
}

TEST_CASE_FIXTURE(WorkerWorld, "a task that is not what was planned, or cannot be read, is a task error") {
  add_task(kTask, shell_kernel_files());
  use_nop();
  TaskDescriptor descriptor = descriptor_of(kTask);
  write("tasks/cpp2cpp/toy/test/check.sh", "echo pass\n");
  AttemptOutcome outcome = attempt(descriptor);
  CHECK(outcome.cause == CauseClass::task_error);
  CHECK(contains(outcome.message, "its files have changed"));

  add_task("cpp2cpp/broken", {{"config.yaml", "task_type: [\n"}});
  CHECK(attempt("cpp2cpp/broken").cause == CauseClass::task_error);
}

TEST_CASE_FIXTURE(WorkerWorld, "the oracle on a task without a reference solution is a task error") {
  Files files = shell_kernel_files();
  files.erase("solution/src/kernel.sh");
  add_task("cpp2cpp/none", files);
  files["solution/test/check.sh"] = "echo pass\n";
  add_task("cpp2cpp/foreign", files);
  use_oracle();
  for (const char* name : {"cpp2cpp/none", "cpp2cpp/foreign"}) {
    const AttemptOutcome outcome = attempt(name);
    CHECK(outcome.cause == CauseClass::task_error);
    CHECK(contains(outcome.message, "no reference solution"));
  }
}

TEST_CASE_FIXTURE(WorkerWorld, "an interrupted evaluation is repeated without the agent") {
  add_task(kTask, shell_kernel_files());
  use_agent("echo run >> " + (root / "agent_runs").string() +
            "; echo 'answer=42; cost=4' > src/kernel.sh; rm test/time.sh");
  runner.fail_at = "test/check.sh";
  const AttemptOutcome lost = attempt(kTask, 1);
  CHECK(lost.cause == CauseClass::infra_error);
  CHECK(lost.candidate_kept);
  CHECK(exists(attempt_name(1) + "evaluation"));

  runner.fail_at = "test/time.sh";  // in the baseline
  CHECK(attempt(kTask, 2).candidate_kept);

  runner.fail_at.clear();
  const TaskResult result = complete(kTask, 3);
  CHECK(read("agent_runs") == "run\n");
  CHECK(result.attempt == 3);
  CHECK(result.agent.from_earlier_attempt);
  CHECK(result.agent.ok);
  CHECK(result.speedup_ratio == doctest::Approx(2));
  CHECK(result.changed_files == Names{"src/kernel.sh"});
  CHECK(contains(read(workspace_name() + "src/kernel.sh"), "cost=4"));
  CHECK(exists(attempt_name(1) + "workspace/src/kernel.sh"));
}

TEST_CASE_FIXTURE(WorkerWorld,
                  "a candidate that was evaluated to the end is not evaluated again by a retry") {
  add_task(kTask, shell_kernel_files());
  use_agent("echo run >> " + (root / "agent_runs").string());
  complete(kTask, 1);
  CHECK_FALSE(complete(kTask, 2).agent.from_earlier_attempt);
  CHECK(read("agent_runs") == "run\nrun\n");
  CHECK(exists(attempt_name(1) + "candidate/record.yaml"));
  CHECK(exists(attempt_name(1) + "workspace/task_result.yaml"));
}

TEST_CASE_FIXTURE(WorkerWorld, "a kept candidate that is damaged or of another task version is not used") {
  add_task(kTask, shell_kernel_files());
  use_agent("echo run >> " + (root / "agent_runs").string() + "; echo 'answer=42; cost=4' > src/kernel.sh");
  const fs::path candidate = layout.candidate(kTask);
  const std::string name = "ws/run_20261201_101500/.attempts/cpp2cpp_toy/candidate/";
  int number = 0;
  const auto lose_one = [&] {
    runner.fail_at = "test/check.sh";
    REQUIRE(attempt(kTask, ++number).candidate_kept);
    runner.fail_at.clear();
  };
  lose_one();
  write(name + "files/src/kernel.sh", "answer=42\ncost=1\n");
  CHECK_FALSE(complete(kTask, ++number).agent.from_earlier_attempt);

  lose_one();
  const std::string record = read(name + "record.yaml");
  for (const std::size_t length : {std::size_t{0}, record.size() / 2, record.size() - 1}) {
    write(name + "record.yaml", record.substr(0, length));
    CandidateRecord expected = read_candidate_record(record, "r").value();
    CHECK_FALSE(find_candidate(disk, layout, expected));
  }
  write(name + "record.yaml", record);
  CandidateRecord expected = read_candidate_record(record, "r").value();
  CHECK(find_candidate(disk, layout, expected));
  expected.task_digest = "other";
  CHECK_FALSE(find_candidate(disk, layout, expected));
}

TEST_CASE_FIXTURE(WorkerWorld, "a stop hands everything back without blaming the task") {
  add_task(kTask, shell_kernel_files());
  use_agent("true");
  for (const char* at : {"sh -n", "test/time.sh", "true"}) {
    runner.stop_at = at;
    const AttemptOutcome outcome = attempt(kTask);
    CHECK(outcome.cause == CauseClass::cancelled);
  }
}

TEST_CASE_FIXTURE(WorkerWorld, "a full disk gives its own space back before the task goes back") {
  add_task(kTask, shell_kernel_files());
  use_nop();
  hooks.report = [](AttemptPhase phase, const fs::path&) {
    return phase == AttemptPhase::evaluation
               ? Status(fail(ErrorCode::no_space, "cannot append: No space left on device"))
               : Status();
  };
  const AttemptOutcome outcome = attempt(kTask);
  CHECK(outcome.cause == CauseClass::infra_error);
  CHECK(outcome.disk_full);
  CHECK_FALSE(exists(attempt_name(1) + "baseline"));
}

TEST_CASE_FIXTURE(WorkerWorld, "processes that cannot be ended are told to the loop") {
  add_task(kTask, shell_kernel_files());
  use_nop();
  hooks.end_processes = []() -> Result<int> {
    return fail(ErrorCode::io, "process 7 is in an uninterruptible wait");
  };
  const AttemptOutcome outcome = attempt(kTask);
  CHECK(outcome.cause == CauseClass::infra_error);
  CHECK(contains(outcome.processes_left, "process 7"));
}

TEST_CASE_FIXTURE(WorkerWorld,
                  "a worker that wakes late writes into the archived workspace, not the new one") {
  add_task(kTask, shell_kernel_files());
  use_nop();
  hooks.report = [this](AttemptPhase phase, const fs::path& log) {
    if (phase == AttemptPhase::evaluation && log.empty()) {
      REQUIRE(archive_workspace(disk, layout, kTask, setup.run.run_id, 2));  // what the next owner does first
      write(workspace_name() + "src/kernel.sh", "of the next attempt\n");
    }
    return Status();
  };
  const AttemptOutcome outcome = attempt(kTask);
  CHECK(outcome.cause == CauseClass::completed);
  CHECK_FALSE(exists(workspace_name() + "task_result.yaml"));
  CHECK_FALSE(exists(workspace_name() + "logs"));
  CHECK(exists(attempt_name(1) + "workspace/task_result.yaml"));
}

TEST_CASE_FIXTURE(WorkerWorld, "phases are reported in order, each command with its log") {
  add_task(kTask, shell_kernel_files());
  use_nop();
  Names told;
  hooks.report = [&told](AttemptPhase phase, const fs::path& log) {
    told.push_back(std::string(name_of(phase)) + (log.empty() ? "" : ":" + log.filename().string()));
    return Status();
  };
  complete(kTask);
  CHECK(told == Names{"setup", "baseline", "baseline:baseline_compile.log",
                      "baseline:baseline_performance.log", "agent", "evaluation", "evaluation:compile.log",
                      "evaluation:correctness.log", "evaluation:performance.log"});
}

TEST_CASE_FIXTURE(WorkerWorld, "shared kit files become plain files, in the workspace as in the evaluation") {
  Files files = shell_kernel_files();
  files.erase("test/check.sh");
  add_task(kTask, files);
  write("tasks/kit/check.sh", shell_kernel_files().at("test/check.sh"));
  fs::create_symlink("../../../kit/check.sh", root / "tasks/cpp2cpp/toy/test/check.sh");
  use_agent("test -f test/check.sh && test ! -L test/check.sh");
  const TaskResult result = complete(kTask);
  CHECK(result.agent.ok);
  CHECK(result.pass_correctness);
  CHECK(result.ignored_changes.empty());
}

TEST_SUITE_END();

}  // namespace arena
