#include "queue_test_support.h"

#include "base/sealed_text.h"
#include "base/text.h"
#include "fakes/failing_file_system.h"
#include "fakes/memory_file_system.h"
#include "model/event.h"
#include "queue/event_ledger.h"
#include "queue/halt.h"

namespace arena {

using namespace queue_test;

TEST_SUITE_BEGIN("queue");

namespace {

struct Run {
  explicit Run(std::int64_t tasks) {
    REQUIRE(make_directories(disk, layout.run_directory()));
    REQUIRE(disk.sync_file_system(layout.run_directory()));
    REQUIRE(build_queue(disk, layout, planned_tasks(tasks)));
  }
  TaskQueue worker(const std::string& id) { return {disk, clock, layout, id}; }
  std::vector<std::string> names(QueueState state) { return names_in(disk, layout.state_directory(state)); }
  TaskDescriptor read(QueueState state, const EntryName& name) {
    auto descriptor = read_entry(disk, layout.entry(state, name), name);
    REQUIRE_MESSAGE(descriptor, descriptor.error().message);
    return *descriptor;
  }
  std::vector<Event> events(const std::string& writer) {
    auto text = disk.read(layout.events(writer));
    return text ? read_events(*text) : std::vector<Event>();
  }
  void put(const fs::path& file, const std::string& content) {
    (void)disk.remove(file);
    REQUIRE(disk.create(file, content, Sync::no));
  }

  MemoryFileSystem disk;
  ManualClock clock;
  QueueLayout layout{"/w/run_20261201_101500"};
};

using Names = std::vector<std::string>;

NoClaim why_not(TaskQueue& queue) {
  auto claim = queue.claim();
  REQUIRE_MESSAGE(claim, claim.error().message);
  REQUIRE_FALSE(*claim);
  return claim->error();
}

}  // namespace

TEST_CASE("a queue is built whole, with every task in pending") {
  Run run(3);
  CHECK(run.names(QueueState::pending) ==
        Names{"000001_cpp2cpp_task_1.yaml", "000002_cpp2cpp_task_2.yaml", "000003_cpp2cpp_task_3.yaml"});
  CHECK(names_in(run.disk, run.layout.parallel()) ==
        Names{"coordinator.lock", "corrupt", "done", "events", "failed", "pending", "running", "workers"});
  CHECK(names_in(run.disk, run.layout.run_directory()) == Names{".parallel"});
  CHECK(standings(run.disk, run.layout, 3).at(2).descriptor.task_name == "cpp2cpp/task_2");
}

TEST_CASE("a queue that is there is not built again") {
  Run run(2);
  CHECK(build_queue(run.disk, run.layout, planned_tasks(3)).error().code == ErrorCode::exists);
  CHECK(run.names(QueueState::pending).size() == 2);
}

TEST_CASE("what an interrupted build left is removed first") {
  Run run(1);
  const QueueLayout other("/w/run_20261201_101501");
  REQUIRE(make_directories(run.disk, other.parallel_being_built() / "pending"));
  REQUIRE(run.disk.create(other.parallel_being_built() / "pending" / "000009_stale.yaml", "x", Sync::no));
  REQUIRE(build_queue(run.disk, other, planned_tasks(2)));
  CHECK(names_in(run.disk, other.run_directory()) == Names{".parallel"});
  CHECK(names_in(run.disk, other.state_directory(QueueState::pending)).size() == 2);
}

TEST_CASE("a task that is complete already goes to done without a worker's name") {
  Run run(1);
  const QueueLayout other("/w/run_20261201_101501");
  REQUIRE(make_directories(run.disk, other.run_directory()));
  auto tasks = planned_tasks(2);
  tasks[0].status = DescriptorStatus::already_complete;
  REQUIRE(build_queue(run.disk, other, tasks));
  CHECK(names_in(run.disk, other.state_directory(QueueState::done)) == Names{"000001_cpp2cpp_task_1.yaml"});
  CHECK(names_in(run.disk, other.state_directory(QueueState::pending)) ==
        Names{"000002_cpp2cpp_task_2.yaml"});
}

TEST_CASE("tasks are claimed in plan order, past the width of the index too") {
  Run run(2);
  REQUIRE(enqueue(run.disk, run.layout, planned_task(1000000, 4)));
  REQUIRE(enqueue(run.disk, run.layout, planned_task(999999, 4)));
  TaskQueue worker = run.worker("0.1");
  for (const std::int64_t index : {1, 2, 999999, 1000000}) CHECK(claim_one(worker).name.index == index);
  CHECK(why_not(worker) == NoClaim::empty);
}

TEST_CASE("a claim counts the attempt and says who and when, on disk") {
  Run run(1);
  TaskQueue worker = run.worker("0.1");
  const Claim claim = claim_one(worker);
  CHECK(run.names(QueueState::running) == Names{"worker_0.1__000001_cpp2cpp_task_1.yaml"});
  CHECK(run.names(QueueState::pending).empty());
  const TaskDescriptor written = run.read(QueueState::running, claim.name);
  CHECK(written.attempt == 1);
  CHECK(written.claimed_by == "0.1");
  CHECK(written.claimed_at == format_utc(run.clock.now()));
  CHECK(written.status == DescriptorStatus::pending);  // as v0.2: a running task's status still says pending
  CHECK(write_descriptor(written) == write_descriptor(claim.descriptor));
}

TEST_CASE("what another worker took is skipped, and tasks that come later are found") {
  Run run(4);
  TaskQueue a = run.worker("0.1");
  TaskQueue b = run.worker("1.1");
  CHECK(claim_one(a).name.index == 1);
  CHECK(claim_one(b).name.index == 2);
  CHECK(claim_one(b).name.index == 3);
  CHECK(claim_one(a).name.index == 4);
  CHECK(why_not(a) == NoClaim::empty);
  REQUIRE(enqueue(run.disk, run.layout, planned_task(5, 5)));
  CHECK(claim_one(b).name.index == 5);
  CHECK(why_not(b) == NoClaim::empty);
}

TEST_CASE("pending is listed once for all claims, and twice before it counts as empty") {
  Run run(5);
  FailingFileSystem spy(run.disk);
  TaskQueue worker(spy, run.clock, run.layout, "0.1");
  const std::string listing = "list " + run.layout.state_directory(QueueState::pending).string();
  const auto listings = [&] { return std::count(spy.log().begin(), spy.log().end(), listing); };
  for (int i = 0; i < 5; ++i) claim_one(worker);
  CHECK(listings() == 1);
  CHECK(why_not(worker) == NoClaim::empty);
  CHECK(listings() == 3);
}

TEST_CASE("finish moves the entry to its end with its last words") {
  Run run(2);
  TaskQueue worker = run.worker("0.1");
  const Claim good = claim_one(worker);
  REQUIRE(complete(run.disk, run.layout, worker, good));
  const Claim bad = claim_one(worker);
  TaskDescriptor descriptor = bad.descriptor;
  descriptor.cause = CauseClass::task_error;
  descriptor.cause_message = "config.yaml:3: no such command";
  REQUIRE(worker.finish(bad, descriptor, QueueState::failed));

  CHECK(run.names(QueueState::running).empty());
  CHECK(run.names(QueueState::done) == Names{"worker_0.1__000001_cpp2cpp_task_1.yaml"});
  CHECK(run.read(QueueState::done, good.name).status == DescriptorStatus::done);
  CHECK(run.read(QueueState::done, good.name).worker_id == "0.1");
  const TaskDescriptor failed = run.read(QueueState::failed, bad.name);
  CHECK(failed.status == DescriptorStatus::failed);
  CHECK(failed.cause == CauseClass::task_error);
  CHECK(failed.cause_message == "config.yaml:3: no such command");
}

TEST_CASE("what finish has returned for survives power loss") {
  Run run(1);
  TaskQueue worker = run.worker("0.1");
  const Claim claim = claim_one(worker);
  REQUIRE(complete(run.disk, run.layout, worker, claim));
  run.disk.lose_power();
  CHECK(run.read(QueueState::done, claim.name).status == DescriptorStatus::done);
  // The claim itself was never synced, so this disk still has its source.
  CHECK(run.names(QueueState::pending).size() == 1);
  recover_all_dead(run.disk, run.clock, run.layout);
  CHECK(standings(run.disk, run.layout, 1).at(1).state == QueueState::done);
}

TEST_CASE("a queue that was built survives power loss") {
  for (const std::int64_t tasks : {3, 100}) {  // synced file by file, and all at once
    Run run(tasks);
    run.disk.lose_power();
    CHECK(standings(run.disk, run.layout, tasks).at(tasks).state == QueueState::pending);
  }
}

TEST_CASE("handing back leaves the task pending, with its cause, under its old name") {
  Run run(1);
  TaskQueue worker = run.worker("0.1");
  for (const CauseClass cause : {CauseClass::quota, CauseClass::cancelled, CauseClass::infra_error}) {
    const Claim claim = claim_one(worker);
    TaskDescriptor descriptor = claim.descriptor;
    descriptor.cause = cause;
    REQUIRE(worker.hand_back(claim, descriptor));
    CHECK(run.names(QueueState::pending) == Names{"000001_cpp2cpp_task_1.yaml"});
    CHECK(run.names(QueueState::running).empty());
    CHECK(run.read(QueueState::pending, {"", 1, "cpp2cpp_task_1"}).cause == cause);
  }
  const TaskDescriptor pending = run.read(QueueState::pending, {"", 1, "cpp2cpp_task_1"});
  CHECK(pending.attempt == 3);
  CHECK(pending.uncounted == 2);
  CHECK(pending.claimed_by.empty());
}

TEST_CASE("a worker that wakes late is refused, and the other's entry stands") {
  for (const bool claimed_again : {false, true}) {
    for (const char* last_act : {"finish", "hand_back"}) {
      CAPTURE(claimed_again);
      CAPTURE(last_act);
      Run run(1);
      TaskQueue late = run.worker("0.1");
      TaskQueue other = run.worker("1.1");
      const Claim claim = claim_one(late);
      recover_all_dead(run.disk, run.clock, run.layout);  // wrongly, by force
      if (claimed_again) CHECK(claim_one(other).descriptor.attempt == 2);
      const auto before = standings(run.disk, run.layout, 1).at(1);

      const Status refused = std::string(last_act) == "finish"
                                 ? late.finish(claim, claim.descriptor, QueueState::done)
                                 : late.hand_back(claim, claim.descriptor);
      CHECK(refused.error().code == ErrorCode::not_found);
      const auto after = standings(run.disk, run.layout, 1).at(1);
      CHECK(after.state == before.state);
      CHECK(write_descriptor(after.descriptor) == write_descriptor(before.descriptor));
      CHECK(run.names(QueueState::running).size() ==
            (claimed_again ? 1 : 0));  // nor is a temporary file left
    }
  }
}

TEST_CASE("a descriptor cut at any byte is set aside with a reason, and the next task is claimed") {
  const std::string whole = write_descriptor(planned_task(1, 2));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    Run run(2);
    run.put(run.layout.entry(QueueState::pending, {"", 1, "cpp2cpp_task_1"}), whole.substr(0, length));
    TaskQueue worker = run.worker("0.1");
    CHECK(claim_one(worker).name.index == 2);
    CHECK(names_in(run.disk, run.layout.corrupt_directory()) ==
          Names{"worker_0.1__000001_cpp2cpp_task_1.yaml", "worker_0.1__000001_cpp2cpp_task_1.yaml.reason"});
    REQUIRE(run.events("0.1").size() == 1);
    CHECK(run.events("0.1")[0].kind == "corrupt");
  }
}

TEST_CASE("a descriptor that orders another task than its name says is set aside") {
  Run run(1);
  run.put(run.layout.entry(QueueState::pending, {"", 1, "cpp2cpp_task_1"}),
          write_descriptor(planned_task(2, 2)));
  TaskQueue worker = run.worker("0.1");
  CHECK(why_not(worker) == NoClaim::empty);
  const std::string reason =
      run.disk.read(run.layout.corrupt_reason({{"0.1", 1, "cpp2cpp_task_1"}, 1})).value_or("");
  CHECK(contains(reason, "task 2 'cpp2cpp/task_2'"));
}

TEST_CASE("names that are not ours are never claimed, and named in a recovery's warnings") {
  Run run(1);
  const fs::path pending = run.layout.state_directory(QueueState::pending);
  for (const char* name : {"notes.txt", "000002_b.yaml.tmp.12.3", "worker_0.1__000003_c.yaml"})
    run.put(pending / name, "x");
  run.put(run.layout.state_directory(QueueState::running) / "000004_d.yaml", "x");
  TaskQueue worker = run.worker("0.1");
  CHECK(claim_one(worker).name.index == 1);
  CHECK(why_not(worker) == NoClaim::empty);
  const auto report = recover_all_dead(run.disk, run.clock, run.layout);
  CHECK(report.warnings == Names{"pending/notes.txt is no entry of the queue",
                                 "pending/worker_0.1__000003_c.yaml is no entry of the queue",
                                 "running/000004_d.yaml is no entry of the queue"});
  CHECK(run.names(QueueState::pending) == Names{"000001_cpp2cpp_task_1.yaml", "notes.txt",
                                                "worker_0.1__000003_c.yaml"});  // the temporary file is gone
}

TEST_CASE("a halt stops claims until it is cleared, and an earlier one stays") {
  Run run(2);
  TaskQueue worker = run.worker("0.1");
  CHECK_FALSE(read_halt(run.disk, run.layout.halt_file()).value());
  REQUIRE(request_halt(run.disk, run.layout.halt_file(),
                       {"0.1", "quota", "limit reached: \"5 h\"\nresets at 3"}));
  REQUIRE(request_halt(run.disk, run.layout.halt_file(), {"user", "stop", ""}));
  CHECK(why_not(worker) == NoClaim::halted);
  const auto halt = read_halt(run.disk, run.layout.halt_file()).value();
  REQUIRE(halt);
  CHECK(halt->by == "0.1");
  CHECK(halt->cause == "quota");
  CHECK(halt->message == "limit reached: \"5 h\"\nresets at 3");
  REQUIRE(clear_halt(run.disk, run.layout.halt_file()));
  REQUIRE(clear_halt(run.disk, run.layout.halt_file()));
  CHECK(claim_one(worker).name.index == 1);
}

TEST_CASE("a halt file written by hand halts, whatever is in it") {
  for (const char* text : {"", "because\n", "- 1\n", "{", "message: wait\n"}) {
    Run run(1);
    run.put(run.layout.halt_file(), text);
    TaskQueue worker = run.worker("0.1");
    CHECK(why_not(worker) == NoClaim::halted);
    CHECK(read_halt(run.disk, run.layout.halt_file()).value().has_value());
  }
}

TEST_CASE("a finished task can be sent round again with a fresh budget") {
  Run run(1);
  TaskQueue worker = run.worker("0.1");
  const Claim claim = claim_one(worker);
  REQUIRE(complete(run.disk, run.layout, worker, claim));
  REQUIRE(requeue_finished(run.disk, run.layout, QueueState::done, claim.name));
  const auto pending = standings(run.disk, run.layout, 1).at(1);
  CHECK(pending.state == QueueState::pending);
  CHECK(pending.descriptor.attempt == 1);
  CHECK(pending.descriptor.uncounted == 1);
  CHECK(pending.descriptor.status == DescriptorStatus::pending);

  // The same worker claims it and dies before it could count the attempt: the old result must not end it.
  const EntryName plain{"", 1, "cpp2cpp_task_1"};
  REQUIRE(run.disk.rename(run.layout.entry(QueueState::pending, plain),
                          run.layout.entry(QueueState::running, claim.name), Replace::no));
  recover_all_dead(run.disk, run.clock, run.layout);
  CHECK(standings(run.disk, run.layout, 1).at(1).state == QueueState::pending);
  CHECK(claim_one(worker).descriptor.attempt == 2);
}

TEST_CASE("an entry of failed/ that cannot be read is set aside instead of being sent round") {
  Run run(1);
  const EntryName plain{"", 1, "cpp2cpp_task_1"};
  REQUIRE(run.disk.remove(run.layout.entry(QueueState::pending, plain)));
  run.put(run.layout.entry(QueueState::failed, plain), "torn");
  CHECK(requeue_finished(run.disk, run.layout, QueueState::failed, plain).error().code == ErrorCode::corrupt);
  CHECK(run.names(QueueState::failed).empty());
  CHECK(requeue_finished(run.disk, run.layout, QueueState::failed, plain).error().code ==
        ErrorCode::not_found);
  CHECK(regenerate(run.disk, run.layout, planned_task(1, 1)).value() == Regenerated::enqueued);
}

TEST_CASE("an unreadable entry is regenerated three times, then the task has failed") {
  Run run(1);
  TaskQueue worker = run.worker("0.1");
  const EntryName plain{"", 1, "cpp2cpp_task_1"};
  for (int round = 1; round <= 3; ++round) {
    run.put(run.layout.entry(QueueState::pending, plain), "torn");
    CHECK(why_not(worker) == NoClaim::empty);
    const auto check = check_queue(run.disk, run.layout, {1});
    CHECK(check.value().missing == std::vector<std::int64_t>{1});
    CHECK(regenerate(run.disk, run.layout, planned_task(1, 1)).value() ==
          (round < 3 ? Regenerated::enqueued : Regenerated::failed));
  }
  const auto end = standings(run.disk, run.layout, 1).at(1);
  CHECK(end.state == QueueState::failed);
  CHECK(end.descriptor.cause == CauseClass::infra_error);
  CHECK(contains(end.descriptor.cause_message, "unreadable 3 times"));
}

TEST_CASE("a regenerated task goes on counting behind the last attempt that left a trace") {
  Run run(2);
  for (std::int64_t index = 1; index <= 2; ++index) {
    REQUIRE(run.disk.remove(
        run.layout.entry(QueueState::pending, {"", index, slug_of(planned_task(index, 2).task_name)})));
  }
  REQUIRE(make_directories(run.disk, run.layout.attempt("cpp2cpp/task_1", 2)));
  REQUIRE(make_directories(run.disk, run.layout.candidate("cpp2cpp/task_1")));
  TaskDescriptor with_result = planned_task(2, 2);
  with_result.attempt = 4;
  REQUIRE(write_result(run.disk, run.layout, with_result));
  for (std::int64_t index = 1; index <= 2; ++index) {
    CHECK(regenerate(run.disk, run.layout, planned_task(index, 2)).value() == Regenerated::enqueued);
  }
  const auto found = standings(run.disk, run.layout, 2);
  CHECK(found.at(1).descriptor.attempt == 2);
  CHECK(found.at(1).descriptor.uncounted == 2);
  CHECK(found.at(2).descriptor.attempt == 4);
}

TEST_CASE("recovery reads result and entry in the order in which they were written") {
  Run run(6);
  std::vector<Claim> claims;
  for (int i = 1; i <= 6; ++i) {
    TaskQueue worker = run.worker(fmt::format("{}.1", i));
    claims.push_back(claim_one(worker));
  }
  REQUIRE(write_result(run.disk, run.layout, claims[0].descriptor));  // died before the move
  TaskDescriptor earlier = claims[1].descriptor;
  earlier.attempt = 7;
  REQUIRE(write_result(run.disk, run.layout, earlier));                    // a result of another attempt
  REQUIRE(write_result(run.disk, run.layout, claims[2].descriptor));       // its owner lives
  run.put(run.layout.entry(QueueState::running, claims[3].name), "torn");  // nobody can read it
  TaskDescriptor exhausted = claims[4].descriptor;                         // its last attempt
  exhausted.attempt = 3;
  run.put(run.layout.entry(QueueState::running, claims[4].name), write_descriptor(exhausted));

  std::map<std::string, int> asked;
  const auto report = recover(run.disk, run.clock, run.layout, {3}, kRunId, [&](const std::string& id) {
    ++asked[id];
    return id == "3.1";
  });
  REQUIRE(report);
  using Action = RecoveryStep::Action;
  CHECK(report->warnings.empty());
  std::vector<Action> actions;
  for (const auto& [name, action] : report->steps) actions.push_back(action);
  CHECK(actions == std::vector<Action>{Action::to_done, Action::to_pending, Action::keep, Action::to_corrupt,
                                       Action::to_failed, Action::to_pending});
  CHECK(asked.size() == 6);
  for (const auto& [id, times] : asked) CHECK(times == 1);

  CHECK(check_queue(run.disk, run.layout, indexes(6)).value().missing == std::vector<std::int64_t>{4});
  const TaskDescriptor done = run.read(QueueState::done, claims[0].name);
  CHECK(done.status == DescriptorStatus::done);
  CHECK(done.cause == CauseClass::completed);
  CHECK(done.worker_id == "1.1");
  CHECK(done.result_digest == stated_seal(run.disk.read(run.layout.task_result("cpp2cpp/task_1")).value()));
  const TaskDescriptor failed = run.read(QueueState::failed, claims[4].name);
  CHECK(failed.cause == CauseClass::infra_error);
  CHECK(contains(failed.cause_message, "worker 5.1"));
  CHECK(run.read(QueueState::running, claims[2].name).attempt == 1);

  std::vector<std::string> kinds;
  for (const Event& event : run.events("coordinator")) kinds.push_back(event.kind);
  CHECK(kinds == Names{"end", "requeue", "corrupt", "end", "requeue"});
}

TEST_CASE("a failure that the worker had written is not run again") {
  Run run(1);
  TaskQueue worker = run.worker("0.1");
  const Claim claim = claim_one(worker);
  TaskDescriptor descriptor = claim.descriptor;
  descriptor.status = DescriptorStatus::failed;
  descriptor.cause = CauseClass::agent_error;
  descriptor.cause_message = "no such program";
  REQUIRE(rewrite_entry(run.disk, run.layout.entry(QueueState::running, claim.name), descriptor, Sync::yes));
  recover_all_dead(run.disk, run.clock, run.layout);
  const auto end = standings(run.disk, run.layout, 1).at(1);
  CHECK(end.state == QueueState::failed);
  CHECK(end.descriptor.cause == CauseClass::agent_error);
  CHECK(end.descriptor.cause_message == "no such program");
}

TEST_CASE("a task in two places is named, and only a certain leftover is removed") {
  Run run(3);
  TaskQueue worker = run.worker("0.1");
  const Claim first = claim_one(worker);
  const Claim second = claim_one(worker);
  const Claim third = claim_one(worker);
  // The claim's source came back after a power loss.
  REQUIRE(enqueue(run.disk, run.layout, planned_task(1, 3)));
  // The end is there, its source too.
  TaskDescriptor ended = second.descriptor;
  ended.status = DescriptorStatus::done;
  run.put(run.layout.entry(QueueState::done, second.name), write_descriptor(ended));
  // Nobody can say whether the unreadable one was the end.
  run.put(run.layout.entry(QueueState::failed, third.name), "torn");

  const auto report = recover_all_dead(run.disk, run.clock, run.layout);
  REQUIRE(report.steps.size() == 1);
  CHECK(report.steps[0].first == first.name);
  CHECK(report.warnings ==
        Names{"removed pending/000001_cpp2cpp_task_1.yaml: "
              "running/worker_0.1__000001_cpp2cpp_task_1.yaml is a later state of the task",
              "removed running/worker_0.1__000002_cpp2cpp_task_2.yaml: "
              "done/worker_0.1__000002_cpp2cpp_task_2.yaml is a later state of the task",
              "task 3 is in more than one place: running/worker_0.1__000003_cpp2cpp_task_3.yaml, "
              "failed/worker_0.1__000003_cpp2cpp_task_3.yaml"});
  CHECK(run.read(QueueState::pending, {"", 1, "cpp2cpp_task_1"}).attempt == 1);
  CHECK(run.names(QueueState::running) == Names{"worker_0.1__000003_cpp2cpp_task_3.yaml"});
  CHECK(run.names(QueueState::done).size() == 1);
}

TEST_CASE("temporary files of the dead are removed, those of a live worker stay") {
  Run run(2);
  TaskQueue a = run.worker("0.1");
  TaskQueue b = run.worker("1.1");
  const fs::path dead = temporary_name(run.layout.entry(QueueState::running, claim_one(a).name));
  const fs::path live = temporary_name(run.layout.entry(QueueState::running, claim_one(b).name));
  const fs::path old = temporary_name(run.layout.entry(QueueState::done, {"0.1", 1, "cpp2cpp_task_1"}));
  for (const fs::path& file : {dead, live, old}) run.put(file, "half");
  REQUIRE(recover(run.disk, run.clock, run.layout, {3}, kRunId,
                  [](const std::string& id) { return id == "1.1"; }));
  CHECK_FALSE(run.disk.exists(dead).value());
  CHECK_FALSE(run.disk.exists(old).value());
  CHECK(run.disk.exists(live).value());
}

TEST_CASE("events of one writer follow each other in its own file") {
  Run run(1);
  Event event;
  event.kind = "claim";
  event.writer = "0.1";
  event.task = "a";
  REQUIRE(append_event(run.disk, run.layout, event));
  event.task = "b";
  REQUIRE(append_event(run.disk, run.layout, event));
  REQUIRE(run.events("0.1").size() == 2);
  CHECK(run.events("0.1")[1].task == "b");
}

TEST_SUITE_END();

}  // namespace arena
