// The program from its flags to its exit code, on a queue as the coordinator builds it.
#include <doctest/doctest.h>

#include "base/sealed_text.h"
#include "base/text.h"
#include "model/event.h"
#include "model/worker_record.h"
#include "os/file_lock.h"
#include "queue/halt.h"
#include "queue/queue_builder.h"
#include "worker/program.h"
#include "worker/worker_loop.h"
#include "worker_fixture.h"

namespace arena {

TEST_SUITE_BEGIN("worker");

namespace {

class QueueWorld : public WorkerWorld {
 public:
  // Tasks a, b, … each with the shell kernel, in a queue ready to be drained.
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
    setup.run.run_name = layout.run_name();
    setup.run.arena_version = "0.1.0";
    setup.run.launcher = "local";
    setup.run.created_at = "2026-12-01T10:15:00.000Z";
    setup.run.config.tasks = {"all"};
    setup.run.config.agent.template_name = "oracle";
    write_record();
    REQUIRE(make_directories(disk, layout.workers_directory()));
    lock("0.1");
    fs::create_symlink(fs::path(ARENA_TEST_DATA).parent_path().parent_path() / "worker" / "agents",
                       root / "data" / "agents");
  }
  void write_record(int number = 1) {
    setup.run.config_digest = "d";
    REQUIRE(publish(disk, layout.run_record(number), write_run_record(setup.run), Sync::no, Replace::yes));
  }
  void lock(const std::string& id) { REQUIRE(disk.create(layout.worker_lock(id), "", Sync::no)); }

  int run_program(const std::string& id = "0.1") {
    std::vector<std::string> words = {"arena-worker",
                                      "--run-dir",
                                      layout.run_directory().string(),
                                      "--worker-id",
                                      id,
                                      "--device",
                                      "cpu slot 0",
                                      "--data-dir",
                                      (root / "data").string(),
                                      "--cache-dir",
                                      (root / "cache").string(),
                                      "--log-file",
                                      (root / "logs" / "worker.log").string()};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return run_worker_program(static_cast<int>(argv.size()), argv.data());
  }
  std::vector<std::string> names_in(QueueState state) {
    std::vector<std::string> names = disk.list(layout.state_directory(state)).value();
    std::sort(names.begin(), names.end());
    return names;
  }
  TaskDescriptor descriptor_in(QueueState state, const std::string& name) {
    const fs::path file = layout.state_directory(state) / name;
    return read_descriptor(disk.read(file).value(), name).value();
  }
  std::vector<Event> events() { return read_events(disk.read(layout.events("0.1")).value_or("")); }
  WorkerExit run_loop() { return WorkerLoop(setup, layout, disk, clock, runner, hooks.end_processes).run(); }
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE_FIXTURE(QueueWorld, "the program drains a queue, and everything it leaves can be read back") {
  build({"cpp2cpp/a", "cpp2cpp/b"});
  CHECK(run_program() == 0);
  CHECK(names_in(QueueState::pending).empty());
  CHECK(names_in(QueueState::running).empty());
  CHECK(names_in(QueueState::done) ==
        Names{"worker_0.1__000001_cpp2cpp_a.yaml", "worker_0.1__000002_cpp2cpp_b.yaml"});

  const TaskDescriptor done = descriptor_in(QueueState::done, "worker_0.1__000001_cpp2cpp_a.yaml");
  CHECK(done.status == DescriptorStatus::done);
  CHECK(done.attempt == 1);
  CHECK(done.worker_id == "0.1");
  CHECK(done.cause == CauseClass::completed);
  CHECK(done.result_digest == stated_seal(disk.read(layout.task_result("cpp2cpp/a")).value()));
  CHECK(is_result_of(disk.read(layout.task_result("cpp2cpp/a")).value(), setup.run.run_id, "cpp2cpp/a", 1));
  CHECK(result_of("cpp2cpp/b").speedup_ratio == doctest::Approx(4));

  const WorkerRecord record =
      read_worker_record(disk.read(layout.worker_record("0.1")).value(), "0.1").value();
  CHECK(record.run_id == setup.run.run_id);
  CHECK(record.pid == ::getpid());
  CHECK(record.device == "cpu slot 0");

  Names kinds;
  for (const Event& event : events()) {
    if (event.more.count("log") == 0)
      kinds.push_back(event.kind + (event.phase.empty() ? "" : " " + event.phase));
  }
  CHECK(kinds == Names{"worker_start", "claim", "phase setup", "phase baseline", "phase agent",
                       "phase evaluation", "end", "claim", "phase setup", "phase baseline", "phase agent",
                       "phase evaluation", "end", "worker_exit"});
  CHECK(contains(read("logs/worker.log"), " - INFO - task cpp2cpp/a: done\n"));
}

TEST_CASE_FIXTURE(QueueWorld, "a task that failed is in failed/ with its cause, and the exit code says so") {
  build({"cpp2cpp/a", "cpp2cpp/b"});
  write("tasks/cpp2cpp/a/src/kernel.sh", "answer=42\ncost=1\n");
  CHECK(run_program() == 1);
  const TaskDescriptor failed = descriptor_in(QueueState::failed, "worker_0.1__000001_cpp2cpp_a.yaml");
  CHECK(failed.cause == CauseClass::task_error);
  CHECK(contains(failed.cause_message, "its files have changed"));
  CHECK(names_in(QueueState::done).size() == 1);
}

TEST_CASE_FIXTURE(QueueWorld,
                  "without its lock file, or when another holds it, a worker leaves without a word") {
  build({"cpp2cpp/a"});
  CHECK(run_program("0.2") == 3);
  const auto held = FileLock::try_acquire(layout.worker_lock("0.1"));
  REQUIRE(held);
  CHECK(run_program("0.1") == 3);
  CHECK(names_in(QueueState::pending).size() == 1);
  CHECK_FALSE(fs::exists(layout.worker_record("0.1")));
}

TEST_CASE_FIXTURE(QueueWorld, "a worker id is used once") {
  build({"cpp2cpp/a"});
  write("ws/run_20261201_101500/.parallel/workers/0.1.yaml", "somebody\n");
  CHECK(run_program() == 2);
  CHECK(names_in(QueueState::pending).size() == 1);
}

TEST_CASE_FIXTURE(QueueWorld, "halted workers claim nothing") {
  build({"cpp2cpp/a"});
  REQUIRE(request_halt(disk, layout.halt_file(), {"user", "drain", "asked to"}));
  CHECK(run_program() == 3);
  REQUIRE(clear_halt(disk, layout.halt_file()));
  REQUIRE(request_halt(disk, layout.worker_halt("0.2"), {"coordinator", "drain", "device deselected"}));
  lock("0.2");
  CHECK(run_program("0.2") == 3);
  CHECK(names_in(QueueState::pending).size() == 1);
}

TEST_CASE_FIXTURE(QueueWorld,
                  "an agent nobody defined, or settings it does not take, end the worker for good") {
  build({"cpp2cpp/a"});
  setup.run.config.agent.template_name = "nobody";
  write_record();
  CHECK(run_program() == 2);
  CHECK(contains(read("logs/worker.log"), "nobody.yaml"));
  setup.run.config.agent.template_name = "oracle";
  setup.run.config.agent.effort = "max";
  write_record();
  CHECK(run_program() == 2);
  CHECK(contains(read("logs/worker.log"), "effort"));
}

TEST_CASE_FIXTURE(QueueWorld, "the newest run record counts") {
  build({"cpp2cpp/a"});
  setup.run.config.agent.template_name = "nop";
  write_record(2);
  CHECK(run_program() == 0);
  CHECK(result_of("cpp2cpp/a").agent.end == "changed nothing");
}

TEST_CASE_FIXTURE(QueueWorld, "an infrastructure failure is tried again until the attempts are used up") {
  build({"cpp2cpp/a"});
  use_nop();
  setup.run.config.max_attempts = 3;
  runner.fail_at = "sh -n";  // before the agent
  CHECK(run_loop() == WorkerExit::some_failed);
  const TaskDescriptor failed = descriptor_in(QueueState::failed, "worker_0.1__000001_cpp2cpp_a.yaml");
  CHECK(failed.attempt == 3);
  CHECK(failed.cause == CauseClass::infra_error);
  CHECK(failed.cause_message == "baseline: the machine fails");
}

TEST_CASE_FIXTURE(QueueWorld,
                  "evaluations of a kept candidate have a counter of their own and cost no attempt") {
  build({"cpp2cpp/a"});
  use_agent("echo run >> " + (root / "agent_runs").string());
  setup.run.config.max_attempts = 1;
  setup.run.config.max_evaluations = 2;
  runner.fail_at = "test/check.sh";
  CHECK(run_loop() == WorkerExit::some_failed);
  const TaskDescriptor failed = descriptor_in(QueueState::failed, "worker_0.1__000001_cpp2cpp_a.yaml");
  CHECK(failed.attempt == 2);
  CHECK(failed.evaluations == 2);
  CHECK(read("agent_runs") == "run\n");
}

TEST_CASE_FIXTURE(QueueWorld, "a stop hands the task back uncounted and leaves") {
  build({"cpp2cpp/a", "cpp2cpp/b"});
  use_nop();
  runner.stop_at = "test/check.sh";
  CHECK(run_loop() == WorkerExit::stopped);
  CHECK(names_in(QueueState::pending) == Names{"000001_cpp2cpp_a.yaml", "000002_cpp2cpp_b.yaml"});
  const TaskDescriptor back = descriptor_in(QueueState::pending, "000001_cpp2cpp_a.yaml");
  CHECK(back.attempt == 1);
  CHECK(back.uncounted == 1);
  CHECK(back.cause == CauseClass::cancelled);
}

TEST_CASE_FIXTURE(QueueWorld, "a full disk halts the run, blames no task and loses nothing") {
  build({"cpp2cpp/a"});
  use_nop();
  setup.run.config.max_attempts = 1;
  runner.fail_at = "test/check.sh";
  runner.error = {ErrorCode::no_space, "cannot write 'correctness.log': No space left on device"};
  CHECK(run_loop() == WorkerExit::cannot_go_on);
  const auto halt = read_halt(disk, layout.halt_file());
  REQUIRE(halt);
  REQUIRE(*halt);
  CHECK((*halt)->cause == "no_space");
  const TaskDescriptor back = descriptor_in(QueueState::pending, "000001_cpp2cpp_a.yaml");
  CHECK(back.uncounted == 1);
  CHECK(back.cause == CauseClass::infra_error);
  CHECK(run_loop() == WorkerExit::stopped);
}

TEST_CASE_FIXTURE(QueueWorld,
                  "processes that cannot be ended end the worker, after its task was handed back") {
  build({"cpp2cpp/a"});
  use_nop();
  runner.fail_at = "sh -n";
  hooks.end_processes = []() -> Result<int> { return fail(ErrorCode::io, "stuck"); };
  CHECK(run_loop() == WorkerExit::cannot_go_on);
  CHECK(names_in(QueueState::pending).size() == 1);
}

TEST_CASE_FIXTURE(QueueWorld, "a task that was given away meanwhile is dropped, and the worker leaves") {
  build({"cpp2cpp/a"});
  use_agent("mv " + layout.state_directory(QueueState::running).string() + "/* " +
            (layout.state_directory(QueueState::pending) / "000001_cpp2cpp_a.yaml").string());
  CHECK(run_loop() == WorkerExit::stopped);
  CHECK(names_in(QueueState::pending).size() == 1);
  CHECK(names_in(QueueState::done).empty());
}

TEST_SUITE_END();

}  // namespace arena
