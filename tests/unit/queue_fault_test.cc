// Fails every single call of every transition, recovers, and looks whether each task is in exactly one place.
#include <set>
#include <thread>

#include "fakes/failing_file_system.h"
#include "fakes/memory_file_system.h"
#include "fakes/temp_directory.h"
#include "queue_test_support.h"

namespace arena {

using namespace queue_test;

TEST_SUITE_BEGIN("queue_fault");

namespace {

constexpr std::int64_t kTasks = 4;

enum class Accident { one_call_fails, process_dies, power_is_lost };

struct Fault {
  FailingFileSystem::When when;
  ErrorCode code;
  Accident accident;
};

std::vector<Fault> all_faults() {
  std::vector<Fault> faults;
  for (const auto when : {FailingFileSystem::When::before, FailingFileSystem::When::after}) {
    for (const auto code : {ErrorCode::io, ErrorCode::no_space}) {
      for (const auto accident :
           {Accident::one_call_fails, Accident::process_dies, Accident::power_is_lost}) {
        faults.push_back({when, code, accident});
      }
    }
  }
  return faults;
}

// What the outside world knows at the moment of the accident.
struct Diary {
  std::map<std::int64_t, QueueState> ended;  // finish() has returned success
  std::set<std::int64_t> has_result;         // its result was published, and it was not sent round since
  std::map<std::int64_t, int> executions;
};

class Life {
 public:
  explicit Life(FileSystem& disk) : disk_(disk) {}
  Diary diary;

  // Every transition there is. Stops at the first error, as the programs do.
  Status run() {
    TaskQueue first(disk_, clock_, layout, "0.1");
    ARENA_TRY(work(first, Outcome::completed));
    ARENA_TRY(work(first, Outcome::quota));
    ARENA_TRY(work(first, Outcome::task_error));
    const auto failed = take_snapshot(disk_, layout);
    if (!failed) return fail(failed.error());
    for (const EntryName& name : failed->entries.at(QueueState::failed)) {
      diary.ended.erase(name.index);
      ARENA_TRY(requeue_finished(disk_, layout, QueueState::failed, name));
    }
    return drain("1.1");
  }

  Status drain(const std::string& worker_id) {
    TaskQueue queue(disk_, clock_, layout, worker_id);
    while (!empty_) ARENA_TRY(work(queue, Outcome::completed));
    empty_ = false;
    return {};
  }

  const QueueLayout layout{"/w/run_20261201_101500"};

 private:
  enum class Outcome { completed, quota, task_error };

  Status work(TaskQueue& queue, Outcome outcome) {
    ARENA_ASSIGN(const auto claim, queue.claim());
    empty_ = !claim;
    if (empty_) return {};
    const std::int64_t index = claim->name.index;
    TaskDescriptor descriptor = claim->descriptor;
    if (outcome == Outcome::quota) {
      descriptor.cause = CauseClass::quota;
      return queue.hand_back(*claim, descriptor);
    }
    ++diary.executions[index];
    if (outcome == Outcome::completed) {
      ARENA_TRY(write_result(disk_, layout, descriptor));
      diary.has_result.insert(index);
    }
    descriptor.cause = outcome == Outcome::completed ? CauseClass::completed : CauseClass::task_error;
    const QueueState target = outcome == Outcome::completed ? QueueState::done : QueueState::failed;
    ARENA_TRY(queue.finish(*claim, descriptor, target));
    diary.ended[index] = target;
    return {};
  }

  FileSystem& disk_;
  ManualClock clock_;
  bool empty_ = false;
};

// What a coordinator does when it resumes.
void resume(FileSystem& disk, const QueueLayout& layout) {
  ManualClock clock;
  recover_all_dead(disk, clock, layout);
  const auto check = check_queue(disk, layout, indexes(kTasks));
  REQUIRE(check);
  for (const std::int64_t index : check->missing)
    REQUIRE(regenerate(disk, layout, planned_task(index, kTasks)));
}

void build(MemoryFileSystem& disk, const QueueLayout& layout) {
  REQUIRE(make_directories(disk, layout.run_directory()));
  REQUIRE(build_queue(disk, layout, planned_tasks(kTasks)));
  disk.sync_everything();
}

FailingFileSystem::Fault fault_at(std::size_t call, const Fault& fault) {
  FailingFileSystem::Fault at;
  at.call = call;
  at.code = fault.code;
  at.when = fault.when;
  at.all_later_too = fault.accident != Accident::one_call_fails;
  return at;
}

// Everything that lies in the queue, with its content.
std::map<std::string, std::string> contents(FileSystem& disk, const QueueLayout& layout) {
  std::map<std::string, std::string> all;
  std::vector<fs::path> directories{layout.corrupt_directory()};
  for (const QueueState state : kQueueStates) directories.push_back(layout.state_directory(state));
  for (const fs::path& directory : directories) {
    for (const std::string& name : names_in(disk, directory)) {
      all[(directory / name).string()] = disk.read(directory / name).value();
    }
  }
  return all;
}

}  // namespace

TEST_CASE("whatever call fails, every task ends exactly once and no result is lost") {
  for (const Fault& fault : all_faults()) {
    std::size_t call = 1;
    for (bool failed = true; failed; ++call) {
      CAPTURE(call);
      CAPTURE(fault.when == FailingFileSystem::When::after);
      CAPTURE(name_of(fault.code));
      CAPTURE(static_cast<int>(fault.accident));
      MemoryFileSystem memory;
      FailingFileSystem disk(memory);
      Life life(disk);
      build(memory, life.layout);
      disk.fail_at(fault_at(call, fault));
      const Status lived = life.run();
      failed = disk.has_failed();
      if (fault.accident == Accident::power_is_lost) {
        memory.lose_power();
        // A claim is not synced: the task of a result that was not followed by its move may be run again.
        std::erase_if(life.diary.has_result, [&](auto index) { return life.diary.ended.count(index) == 0; });
      }
      disk.reset();

      resume(disk, life.layout);
      const auto found = standings(disk, life.layout, kTasks);
      if (lived && !failed) {
        for (const auto& [index, standing] : found) CHECK(standing.state == QueueState::done);
      }
      for (const auto& [index, state] : life.diary.ended) CHECK(found.at(index).state == state);
      for (const std::int64_t index : life.diary.has_result) CHECK(found.at(index).state == QueueState::done);
      CHECK(names_in(disk, life.layout.state_directory(QueueState::running)).empty());

      const Diary before = life.diary;
      REQUIRE(life.drain("2.1"));
      for (const auto& [index, standing] : standings(disk, life.layout, kTasks)) {
        CHECK((standing.state == QueueState::done || standing.state == QueueState::failed));
        if (before.has_result.count(index) != 0) {
          CHECK(life.diary.executions[index] == before.executions.at(index));
        }
      }
    }
    CHECK(call > 80);  // it did go through all of it
  }
}

TEST_CASE("whatever call of a build fails, building again gives the whole queue") {
  for (const Fault& fault : all_faults()) {
    std::size_t call = 1;
    for (bool failed = true; failed; ++call) {
      CAPTURE(call);
      CAPTURE(static_cast<int>(fault.accident));
      MemoryFileSystem memory;
      FailingFileSystem disk(memory);
      const QueueLayout layout("/w/run_20261201_101500");
      REQUIRE(make_directories(memory, layout.run_directory()));
      memory.sync_everything();
      disk.fail_at(fault_at(call, fault));
      const Status built = build_queue(disk, layout, planned_tasks(kTasks));
      failed = disk.has_failed();
      CHECK(built.has_value() == !failed);
      if (fault.accident == Accident::power_is_lost) memory.lose_power();
      disk.reset();

      const Status again = build_queue(disk, layout, planned_tasks(kTasks));
      if (!again) CHECK(again.error().code == ErrorCode::exists);
      if (!failed) CHECK_FALSE(again);
      CHECK(names_in(disk, layout.run_directory()) == std::vector<std::string>{".parallel"});
      for (const auto& [index, standing] : standings(disk, layout, kTasks))
        CHECK(standing.state == QueueState::pending);
    }
    CHECK(call > 15);
  }
}

TEST_CASE("a recovery that fails anywhere is done again and comes to the same end") {
  const QueueLayout layout("/w/run_20261201_101500");
  ManualClock clock;
  // One entry of each kind that recovery moves, none of them the leftover of another.
  const auto wreck = [&](MemoryFileSystem& disk) {
    REQUIRE(make_directories(disk, layout.run_directory()));
    REQUIRE(build_queue(disk, layout, planned_tasks(5)));
    TaskQueue queue(disk, clock, layout, "0.1");
    std::vector<Claim> claims;
    for (int i = 0; i < 5; ++i) claims.push_back(claim_one(queue));
    REQUIRE(write_result(disk, layout, claims[0].descriptor));
    const auto put = [&](const Claim& claim, const std::string& content) {
      REQUIRE(disk.remove(layout.entry(QueueState::running, claim.name)));
      REQUIRE(disk.create(layout.entry(QueueState::running, claim.name), content, Sync::no));
    };
    TaskDescriptor exhausted = claims[2].descriptor;
    exhausted.attempt = 3;
    put(claims[2], write_descriptor(exhausted));
    put(claims[3], "torn");
    TaskDescriptor ended = claims[4].descriptor;
    ended.status = DescriptorStatus::failed;
    ended.cause = CauseClass::task_error;
    put(claims[4], write_descriptor(ended));
    REQUIRE(disk.create(temporary_name(layout.entry(QueueState::running, claims[4].name)), "half", Sync::no));
  };
  MemoryFileSystem untouched;
  wreck(untouched);
  recover_all_dead(untouched, clock, layout);
  const auto expected = contents(untouched, layout);
  CHECK(expected.size() == 6);  // five entries and a reason

  for (const Fault& fault : all_faults()) {
    if (fault.accident == Accident::power_is_lost) continue;  // the wreck would be another
    std::size_t call = 1;
    for (bool failed = true; failed; ++call) {
      CAPTURE(call);
      CAPTURE(fault.when == FailingFileSystem::When::after);
      CAPTURE(static_cast<int>(fault.accident));
      MemoryFileSystem memory;
      wreck(memory);
      FailingFileSystem disk(memory);
      disk.fail_at(fault_at(call, fault));
      const auto report = recover(disk, clock, layout, {3}, kRunId, [](const std::string&) { return false; });
      failed = disk.has_failed();
      disk.reset();
      recover_all_dead(disk, clock, layout);
      CHECK(contents(disk, layout) == expected);
    }
    CHECK(call > 30);
  }
}

TEST_CASE("sixteen workers claim a thousand tasks, each exactly once") {
  constexpr std::int64_t kMany = 1000;
  const TempDirectory directory;
  RealFileSystem disk;
  ManualClock clock;
  const QueueLayout layout(directory / "run_20261201_101500");
  for (const QueueState state : kQueueStates) REQUIRE(make_directories(disk, layout.state_directory(state)));
  for (const TaskDescriptor& descriptor : planned_tasks(kMany)) {
    const EntryName name{"", descriptor.index, slug_of(descriptor.task_name)};
    REQUIRE(disk.create(layout.entry(QueueState::pending, name), write_descriptor(descriptor), Sync::no));
  }

  std::vector<std::vector<std::int64_t>> claimed(16);
  std::vector<std::string> errors(claimed.size());
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    workers.emplace_back([&, i] {
      RealFileSystem own_disk;
      ManualClock own_clock;
      TaskQueue queue(own_disk, own_clock, layout, fmt::format("{}.1", i));
      for (;;) {
        const auto claim = queue.claim();
        if (!claim) errors[i] = claim.error().message;
        if (!claim || !*claim) return;
        claimed[i].push_back((*claim)->name.index);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();

  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    CHECK(errors[i].empty());
    CHECK(std::is_sorted(claimed[i].begin(), claimed[i].end()));
    all.insert(all.end(), claimed[i].begin(), claimed[i].end());
  }
  std::sort(all.begin(), all.end());
  CHECK(all == indexes(kMany));
  for (const auto& [index, standing] : standings(disk, layout, kMany)) {
    CHECK(standing.state == QueueState::running);
    CHECK(standing.descriptor.attempt == 1);
  }
}

TEST_SUITE_END();

}  // namespace arena
