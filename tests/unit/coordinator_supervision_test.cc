#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "coordinator/supervision.h"

namespace arena {

namespace {

using State = SlotState;
using Event = SlotEvent;
using Action = SlotAction;

const SteadyTime kNow{std::chrono::hours(1)};

SlotRecord slot_in(State state) {
  SlotRecord slot;
  slot.state = state;
  return slot;
}

bool has(const SlotStep& step, Action action) {
  return std::find(step.actions.begin(), step.actions.end(), action) != step.actions.end();
}

bool is_exit(Event event) {
  return event == Event::exited_done || event == Event::exited_unusable || event == Event::exited_halted ||
         event == Event::exited_badly || event == Event::exited_unknown;
}

}  // namespace

TEST_CASE("every state answers every event") {
  for (const State state : kSlotStates) {
    for (const Event event : kSlotEvents) {
      const SlotStep step = next_step(slot_in(state), event, kNow);
      const State next = step.slot.state;
      CAPTURE(name_of(state));
      CAPTURE(name_of(event));
      CAPTURE(name_of(next));
      // Nothing leaves the two final states.
      if (state == State::ended || state == State::given_up) {
        CHECK(next == state);
        CHECK(step.actions.empty());
      }
      // A worker's end is recovered exactly once, exactly when there was a worker.
      const bool had_process = has_worker(state) && state != State::starting;
      CHECK(has(step, Action::recover) == (had_process && is_exit(event)));
      if (had_process && is_exit(event)) CHECK(!has_worker(next));
      // Only an idle slot starts a worker, and only for pending work.
      CHECK(has(step, Action::launch) == (state == State::idle && event == Event::work_left));
      CHECK(has(step, Action::launch) == (next == State::starting && state != State::starting));
      // No way back from leaving.
      const std::set<State> leaving = {State::draining, State::stopping, State::killing, State::ended};
      if (leaving.contains(state)) CHECK(leaving.contains(next));
      if (event == Event::drain || event == Event::stop_now)
        CHECK((leaving.contains(next) || next == State::given_up));
      // Signals go to workers that are told to stop, and never twice the same.
      CHECK(has(step, Action::send_term) == ((event == Event::stop_now && has_worker(state) &&
                                              state != State::stopping && state != State::killing) ||
                                             (event == Event::launched && state == State::stopping)));
      CHECK(has(step, Action::send_kill) == ((event == Event::timer && state == State::stopping) ||
                                             (event == Event::launched && state == State::killing)));
      // A timer is never left running in a state that does not wait for one.
      const auto waits = [](State s) { return s == State::stopping || s == State::backing_off; };
      if (waits(state) && !waits(next)) CHECK((has(step, Action::cancel_timer) || event == Event::timer));
      if (!waits(state) && waits(next)) CHECK(has(step, Action::start_timer));
    }
  }
}

TEST_CASE(
    "a worker that ends because nothing is pending leaves its slot idle and is not restarted without work") {
  SlotStep step = next_step(slot_in(State::running), Event::exited_done, kNow);
  CHECK(step.slot.state == State::idle);
  CHECK(next_step(step.slot, Event::work_gone, kNow).slot.state == State::idle);
  step = next_step(step.slot, Event::work_left, kNow);
  CHECK(step.slot.state == State::starting);
}

TEST_CASE("two starts on one slot are at least the least delay apart") {
  SlotStep step = next_step(slot_in(State::idle), Event::work_left, kNow);
  step = next_step(step.slot, Event::launched, kNow);
  step = next_step(step.slot, Event::exited_done, kNow);
  step = next_step(step.slot, Event::work_left, kNow);
  CHECK(step.slot.state == State::backing_off);
  CHECK(step.slot.not_before == kNow + kLeastDelay);
  step = next_step(step.slot, Event::timer, kNow + kLeastDelay);
  CHECK(step.slot.state == State::idle);
  CHECK(next_step(step.slot, Event::work_left, kNow + kLeastDelay).slot.state == State::starting);
}

TEST_CASE("deaths in a row double the delay and end in giving the slot up") {
  SlotRecord slot = slot_in(State::idle);
  SteadyTime now = kNow;
  std::chrono::seconds expected = kLeastDelay;
  for (int death = 1; death <= kMostDeaths; ++death) {
    CAPTURE(death);
    SlotStep step = next_step(slot, Event::work_left, now);
    REQUIRE(step.slot.state == State::starting);
    step = next_step(step.slot, Event::launched, now);
    step = next_step(step.slot, Event::exited_badly, now);
    slot = step.slot;
    CHECK(has(step, Action::report_given_up) == (death == kMostDeaths));
    if (death == kMostDeaths) break;
    REQUIRE(slot.state == State::idle);
    CHECK(slot.not_before == now + expected);
    now = slot.not_before;
    expected = std::min(expected * 2, kMostDelay);
  }
  CHECK(slot.state == State::given_up);
}

TEST_CASE("a finished task forgives earlier deaths") {
  SlotRecord slot = slot_in(State::running);
  slot.deaths = kMostDeaths - 1;
  slot = next_step(slot, Event::task_finished, kNow).slot;
  CHECK(slot.deaths == 0);
  CHECK(next_step(slot, Event::exited_badly, kNow).slot.state == State::idle);
}

TEST_CASE("launches that fail are deaths too, with nothing to recover") {
  SlotRecord slot = slot_in(State::starting);
  slot.deaths = kMostDeaths - 1;
  const SlotStep step = next_step(slot, Event::launch_failed, kNow);
  CHECK(step.slot.state == State::given_up);
  CHECK(!has(step, Action::recover));
}

TEST_CASE("a worker that cannot use its configuration is never restarted") {
  const SlotStep step = next_step(slot_in(State::running), Event::exited_unusable, kNow);
  CHECK(step.slot.state == State::given_up);
  CHECK(step.actions == std::vector<Action>{Action::recover, Action::report_given_up});
}

TEST_CASE("an adopted worker whose exit is unknown counts as no death") {
  const SlotStep step = next_step(slot_in(State::adopted), Event::exited_unknown, kNow);
  CHECK(step.slot.state == State::idle);
  CHECK(step.slot.deaths == 0);
}

TEST_CASE("a stop is TERM, then KILL after the grace") {
  SlotStep step = next_step(slot_in(State::running), Event::stop_now, kNow);
  CHECK(step.actions == std::vector<Action>{Action::send_term, Action::start_timer});
  CHECK(step.slot.not_before == kNow + kStopGrace);
  step = next_step(step.slot, Event::timer, kNow + kStopGrace);
  CHECK(step.actions == std::vector<Action>{Action::send_kill});
  step = next_step(step.slot, Event::exited_badly, kNow);
  CHECK(step.slot.state == State::ended);
}

}  // namespace arena
