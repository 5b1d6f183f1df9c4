#include <doctest/doctest.h>

#include <fmt/format.h>

#include "queue/queue_snapshot.h"
#include "queue/recovery.h"

namespace arena {

TEST_SUITE_BEGIN("queue_recovery_plan");

namespace {

constexpr DescriptorStatus kStatuses[] = {DescriptorStatus::pending, DescriptorStatus::already_complete,
                                          DescriptorStatus::done, DescriptorStatus::failed};

RunningEntry running_entry() {
  RunningEntry entry;
  entry.name = {"0.1", 7, "a"};
  entry.descriptor = TaskDescriptor{};
  entry.descriptor->index = 7;
  entry.descriptor->claimed_by = "0.1";
  entry.descriptor->attempt = 1;
  return entry;
}

RecoveryStep::Action plan_one(const RunningEntry& entry, std::int64_t max_attempts = 3) {
  const auto steps = plan_recovery({entry}, {max_attempts});
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].name == entry.name);
  return steps[0].action;
}

}  // namespace

// Every combination, against the rules written as questions in the order in which a person would ask them.
TEST_CASE("every combination of what recovery can know has the action that the rules give") {
  using Action = RecoveryStep::Action;
  int combinations = 0;
  for (const bool alive : {false, true}) {
    for (const bool readable : {false, true}) {
      for (const bool has_result : {false, true}) {
        for (const char* claimed_by : {"0.1", "0.2", ""}) {
          for (const DescriptorStatus status : kStatuses) {
            for (std::int64_t attempt = 0; attempt <= 5; ++attempt) {
              for (std::int64_t uncounted = 0; uncounted <= attempt; ++uncounted) {
                RunningEntry entry = running_entry();
                entry.owner_alive = alive;
                entry.has_result = has_result;
                entry.descriptor->claimed_by = claimed_by;
                entry.descriptor->status = status;
                entry.descriptor->attempt = attempt;
                entry.descriptor->uncounted = uncounted;
                if (!readable) entry.descriptor.reset();

                const bool own_claim = std::string(claimed_by) == "0.1";
                const bool exhausted = attempt - uncounted >= 3;
                Action expected = exhausted ? Action::to_failed : Action::to_pending;
                if (own_claim && has_result) expected = Action::to_done;
                if (own_claim && status == DescriptorStatus::failed) expected = Action::to_failed;
                if (!readable) expected = Action::to_corrupt;
                if (alive) expected = Action::keep;

                CAPTURE(alive);
                CAPTURE(readable);
                CAPTURE(has_result);
                CAPTURE(claimed_by);
                CAPTURE(name_of(status));
                CAPTURE(attempt);
                CAPTURE(uncounted);
                CHECK(plan_one(entry) == expected);
                ++combinations;
              }
            }
          }
        }
      }
    }
  }
  CHECK(combinations == 2 * 2 * 2 * 3 * 4 * 21);
}

TEST_CASE("a live worker's entry is left alone, whatever it looks like") {
  RunningEntry entry = running_entry();
  entry.owner_alive = true;
  entry.descriptor.reset();
  CHECK(plan_one(entry) == RecoveryStep::Action::keep);
}

TEST_CASE("a result is worth nothing to a claim that was never written") {
  // `retry` of a done task: the result of attempt 1 stands, and the next claimer died before it counted
  // attempt 2.
  RunningEntry entry = running_entry();
  entry.has_result = true;
  entry.descriptor->claimed_by = "";
  CHECK(plan_one(entry) == RecoveryStep::Action::to_pending);
}

TEST_CASE("quota and cancelled attempts use up nothing") {
  RunningEntry entry = running_entry();
  entry.descriptor->attempt = 12;
  entry.descriptor->uncounted = 10;
  CHECK(plan_one(entry) == RecoveryStep::Action::to_pending);
  entry.descriptor->uncounted = 9;
  CHECK(plan_one(entry) == RecoveryStep::Action::to_failed);
}

TEST_CASE("one attempt at most means that a lost one is the last") {
  CHECK(plan_one(running_entry(), 1) == RecoveryStep::Action::to_failed);
}

TEST_CASE("steps come in the order of the entries, one for each") {
  std::vector<RunningEntry> entries;
  for (std::int64_t index = 1; index <= 4; ++index) {
    entries.push_back(running_entry());
    entries.back().name.index = index;
    entries.back().owner_alive = index % 2 == 0;
  }
  const auto steps = plan_recovery(entries, {3});
  REQUIRE(steps.size() == 4);
  for (std::size_t i = 0; i < steps.size(); ++i) CHECK(steps[i].name == entries[i].name);
  CHECK(plan_recovery({}, {3}).empty());
}

TEST_CASE("of several copies the latest stands, where that is certain") {
  using State = QueueState;
  using End = DescriptorStatus;
  struct Copy {
    State state;
    std::int64_t attempt;
    End status = End::pending;
  };
  const auto copy_of = [](const Copy& copy) {
    TaskDescriptor descriptor;
    descriptor.attempt = copy.attempt;
    descriptor.status = copy.status;
    return TaskCopy{copy.state, {"", 1, "a"}, descriptor, false};
  };
  const struct {
    const char* what;
    Copy later;
    Copy earlier;
  } table[] = {
      {"a claim, its source left", {State::running, 1}, {State::pending, 0}},
      {"an end, its claim's source left", {State::done, 1, End::done}, {State::pending, 0}},
      {"an end, its source left", {State::done, 1, End::done}, {State::running, 1}},
      {"a failure, its source left", {State::failed, 1, End::failed}, {State::running, 1, End::failed}},
      {"a hand-back, its source left", {State::pending, 1}, {State::running, 1}},
      {"a task sent round again, its source left", {State::pending, 1}, {State::failed, 1}},
      {"a task sent round again and claimed", {State::running, 2}, {State::failed, 1, End::failed}},
  };
  for (const auto& row : table) {
    CAPTURE(row.what);
    CHECK(latest_copy({copy_of(row.later), copy_of(row.earlier)}) == 0);
    CHECK(latest_copy({copy_of(row.earlier), copy_of(row.later)}) == 1);
  }

  const TaskCopy pending = copy_of({State::pending, 1});
  TaskCopy torn = pending;
  torn.descriptor.reset();
  CHECK_FALSE(latest_copy({pending, torn}));
  torn.state = State::done;
  CHECK_FALSE(latest_copy({pending, torn}));
  torn.state = State::running;
  CHECK(latest_copy({torn, pending}) == 1);
  CHECK_FALSE(latest_copy({torn, torn}));
  TaskCopy alive = copy_of({State::running, 2});
  alive.owner_alive = true;
  CHECK_FALSE(latest_copy({pending, alive}));
  CHECK_FALSE(latest_copy({copy_of({State::done, 1, End::done}), copy_of({State::failed, 1, End::failed})}));
  CHECK_FALSE(latest_copy({pending, copy_of({State::running, 2}), copy_of({State::running, 2})}));
}

TEST_CASE("a check names what is missing and what is there more than once") {
  QueueSnapshot snapshot;
  snapshot.entries[QueueState::pending] = {{"", 1, "a"}, {"", 2, "b"}};
  snapshot.entries[QueueState::running] = {{"0.1", 3, "c"}, {"0.2", 3, "c"}};
  snapshot.entries[QueueState::done] = {{"0.1", 2, "b"}, {"", 5, "e"}};
  const QueueCheck check = check_snapshot(snapshot, {1, 2, 3, 4, 5, 6});
  CHECK(check.missing == std::vector<std::int64_t>{4, 6});
  CHECK(check.duplicates ==
        std::vector<std::string>{
            "task 2 is in more than one place: pending/000002_b.yaml, done/worker_0.1__000002_b.yaml",
            "task 3 is in more than one place: running/worker_0.1__000003_c.yaml, "
            "running/worker_0.2__000003_c.yaml"});
  CHECK(snapshot.count(QueueState::done) == 2);
  CHECK(snapshot.count(QueueState::failed) == 0);
}

TEST_CASE("a check of a whole queue has nothing to say") {
  QueueSnapshot snapshot;
  snapshot.entries[QueueState::failed] = {{"0.1", 1, "a"}};
  CHECK(check_snapshot(snapshot, {1}).missing.empty());
  CHECK(check_snapshot(snapshot, {1}).duplicates.empty());
  CHECK(check_snapshot({}, {}).missing.empty());
}

TEST_SUITE_END();

}  // namespace arena
