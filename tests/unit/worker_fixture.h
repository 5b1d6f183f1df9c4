#pragma once
// A small world for the worker's tests: a tasks directory, a run directory and tasks whose "kernel" is a
// shell fragment that says its answer and its cost, so that every timing is known.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>

#include "fakes/temp_directory.h"
#include "os/environment.h"
#include "os/tree.h"
#include "worker/task_run.h"

namespace arena {

using Files = std::map<std::string, std::string>;

class TemporaryWorld {
 public:
  void write(const fs::path& relative, const std::string& text) const {
    fs::create_directories((root / relative).parent_path());
    RealFileSystem files;
    REQUIRE(publish(files, root / relative, text, Sync::no, Replace::yes));
  }
  std::string read(const fs::path& relative) const {
    return RealFileSystem().read(root / relative).value_or("(no file)");
  }
  bool exists(const fs::path& relative) const {
    return fs::symlink_status(root / relative).type() != fs::file_not_found;
  }

 private:
  TempDirectory directory_;

 public:
  const fs::path root = directory_.path();
};

inline const Files& shell_kernel_files() {
  static const Files files = {
      {"config.yaml",
       "task_type: cpp2cpp\n"
       "source_file_path: [src/kernel.sh]\n"
       "target_kernel_functions: [kernel]\n"
       "compile_command: [sh -n src/kernel.sh]\n"
       "correctness_command: [sh test/check.sh]\n"
       "performance_command: [sh test/time.sh]\n"},
      {"src/kernel.sh", "answer=42\ncost=8\n"},
      {"solution/src/kernel.sh", "answer=42\ncost=2\n"},
      {"test/check.sh",
       ". ./src/kernel.sh; if [ \"$answer\" = 42 ]; then echo PASS; else echo FAIL: $answer; fi\n"},
      {"test/time.sh",
       ". ./src/kernel.sh; mkdir -p build\n"
       "echo \"[{\\\"test_case_id\\\": \\\"a\\\", \\\"execution_time_ms\\\": $cost},"
       " {\\\"test_case_id\\\": \\\"b\\\", \\\"execution_time_ms\\\": ${cost}0}]\" > "
       "build/performance_report.json\n"},
  };
  return files;
}

// A runner that can be made to fail or stop at commands whose line or program contains a text.
class TamperedRunner final : public ProcessRunner {
 public:
  explicit TamperedRunner(ProcessRunner& real) : real_(real) {}
  Result<ProcessOutcome> run(const ProcessSpec& spec) override {
    for (const std::string& word : spec.argv) {
      if (!fail_at.empty() && word.find(fail_at) != std::string::npos) return fail(error);
      if (!stop_at.empty() && word.find(stop_at) != std::string::npos) {
        ProcessOutcome stopped;
        stopped.end = Stopped{};
        return stopped;
      }
    }
    lines.push_back(spec.argv.back());
    last = spec;
    return real_.run(spec);
  }
  bool stop_requested() override { return real_.stop_requested(); }

  std::string fail_at, stop_at;
  Error error{ErrorCode::io, "the machine fails"};
  std::vector<std::string> lines;
  ProcessSpec last;

 private:
  ProcessRunner& real_;
};

// One run with one worker, without a queue: TaskRun is called as the loop would.
class WorkerWorld : public TemporaryWorld {
 public:
  WorkerWorld() : layout(root / "ws" / "run_20261201_101500") {
    fs::create_directories(layout.run_directory());
    setup.run.run_id = "0123456789abcdef";
    setup.run.tasks_directory = (root / "tasks").string();
    setup.data_directory = root / "data";
    setup.cache_directory = root / "cache";
    setup.worker_id = "0.1";
    setup.device = "cpu slot 0";
    setup.reap_mode = "subreaper";
    setup.environment = current_environment();
    setup.run.config.compile_timeout = std::chrono::seconds(60);
    const fs::path texts = fs::path(ARENA_TEST_DATA).parent_path().parent_path() / "worker" / "prompts";
    fs::create_directories(setup.data_directory);
    fs::create_symlink(texts, setup.data_directory / "prompts");
  }

  void add_task(const std::string& name, const Files& files, const Files& changes = {}) {
    Files all = files;
    for (const auto& [path, text] : changes) all[path] = text;
    for (const auto& [path, text] : all) {
      if (!text.empty()) write(fs::path("tasks") / name / path, text);
    }
  }

  void use_agent(const std::string& script) {
    setup.agent = {};
    setup.agent.name = "command";
    setup.agent.action = AgentSpec::Action::run;
    setup.agent.argv = {"/bin/sh", "-c", script};
    setup.agent.prompt_on_stdin = true;
  }
  void use_oracle() {
    setup.agent = {};
    setup.agent.name = "oracle";
    setup.agent.action = AgentSpec::Action::apply_solution;
    setup.agent.sees_solution = true;
  }
  void use_nop() {
    setup.agent = {};
    setup.agent.name = "nop";
  }

  TaskDescriptor descriptor_of(const std::string& name, std::int64_t attempt = 1) {
    TaskDescriptor descriptor;
    descriptor.index = 1;
    descriptor.total_tasks = 1;
    descriptor.task_name = name;
    descriptor.run_id = setup.run.run_id;
    descriptor.attempt = attempt;
    descriptor.claimed_by = setup.worker_id;
    TaskSource source;
    source.tasks_directory = root / "tasks";
    source.directory = source.tasks_directory / name;
    descriptor.task_digest = digest_of(source).value();
    return descriptor;
  }

  AttemptOutcome attempt(const TaskDescriptor& descriptor) {
    return TaskRun(setup, layout, disk, clock, runner, descriptor, hooks).run();
  }
  AttemptOutcome attempt(const std::string& name, std::int64_t number = 1) {
    return attempt(descriptor_of(name, number));
  }

  // The result as it lies in the workspace; the test fails if there is none.
  TaskResult result_of(const std::string& name) {
    const auto text = disk.read(layout.task_result(name));
    REQUIRE_MESSAGE(text.has_value(), "no task_result.yaml");
    auto result = read_task_result(*text, "task_result.yaml");
    if (!result) FAIL(result.error().message);
    return *result;
  }
  // Runs an attempt that must be completed.
  TaskResult complete(const std::string& name, std::int64_t number = 1) {
    const AttemptOutcome outcome = attempt(name, number);
    INFO(outcome.message);
    REQUIRE(outcome.cause == CauseClass::completed);
    return result_of(name);
  }

  QueueLayout layout;
  WorkerSetup setup;
  RealFileSystem disk;
  RealClock clock;
  RealProcessRunner real_runner;
  TamperedRunner runner{real_runner};
  AttemptHooks hooks;
};

}  // namespace arena
