#include "coordinator/supervision.h"

#include <algorithm>

#include "base/result.h"

namespace arena {

namespace {

using State = SlotState;
using Event = SlotEvent;
using Action = SlotAction;

bool is_exit(Event event) {
  return event == Event::exited_done || event == Event::exited_unusable || event == Event::exited_halted ||
         event == Event::exited_badly || event == Event::exited_unknown;
}

SlotStep stay(SlotRecord slot) { return {slot, {}}; }

SlotStep go(SlotRecord slot, State state, std::vector<Action> actions = {}) {
  slot.state = state;
  return {slot, std::move(actions)};
}

// One more death: 1 s, 2 s, 4 s, … up to the limit, then the end of it. A launch that failed left nothing to
// recover.
SlotStep die(SlotRecord slot, SteadyTime now, std::vector<Action> actions) {
  ++slot.deaths;
  if (slot.deaths >= kMostDeaths) {
    actions.push_back(Action::report_given_up);
    return go(slot, State::given_up, std::move(actions));
  }
  const std::chrono::seconds delay = kLeastDelay * (1 << (slot.deaths - 1));
  slot.not_before = now + std::min(delay, kMostDelay);
  return go(slot, State::idle, std::move(actions));
}

SlotStep stop(SlotRecord slot, SteadyTime now) {
  slot.not_before = now + kStopGrace;
  return go(slot, State::stopping, {Action::send_term, Action::start_timer});
}

SlotStep when_idle(SlotRecord slot, Event event, SteadyTime now) {
  switch (event) {
    case Event::work_left:
      if (now < slot.not_before) return go(slot, State::backing_off, {Action::start_timer});
      slot.not_before = now + kLeastDelay;
      return go(slot, State::starting, {Action::launch});
    case Event::drain:
    case Event::stop_now:
      return go(slot, State::ended);
    default:
      return stay(slot);
  }
}

SlotStep when_backing_off(SlotRecord slot, Event event) {
  switch (event) {
    case Event::timer:
      return go(slot, State::idle);
    case Event::work_gone:
      return go(slot, State::idle, {Action::cancel_timer});
    case Event::drain:
    case Event::stop_now:
      return go(slot, State::ended, {Action::cancel_timer});
    default:
      return stay(slot);
  }
}

SlotStep when_starting(SlotRecord slot, Event event, SteadyTime now) {
  switch (event) {
    case Event::launched:
      return go(slot, State::running);
    case Event::launch_failed:
      return die(slot, now, {});
    case Event::drain:
      return go(slot, State::draining);
    case Event::stop_now:
      return stop(slot, now);
    default:
      return stay(slot);
  }
}

SlotStep when_working(SlotRecord slot, Event event, SteadyTime now) {
  switch (event) {
    case Event::exited_done:
    case Event::exited_unknown:
      return go(slot, State::idle, {Action::recover});
    case Event::exited_unusable:
      return go(slot, State::given_up, {Action::recover, Action::report_given_up});
    case Event::exited_halted:  // nobody asked: somebody's signal, or its lock file was gone
    case Event::exited_badly:
      return die(slot, now, {Action::recover});
    case Event::task_finished:
      slot.deaths = 0;
      return stay(slot);
    case Event::drain:
      return go(slot, State::draining);
    case Event::stop_now:
      return stop(slot, now);
    default:
      return stay(slot);
  }
}

// draining, stopping, killing: on the way out, whatever the exit looks like.
SlotStep when_leaving(SlotRecord slot, Event event, SteadyTime now) {
  if (is_exit(event)) {
    if (slot.state == State::draining) return go(slot, State::ended, {Action::recover});
    return go(slot, State::ended, {Action::cancel_timer, Action::recover});
  }
  if (event == Event::launch_failed) {
    if (slot.state == State::draining) return go(slot, State::ended);
    return go(slot, State::ended, {Action::cancel_timer});
  }
  // A launch that was under way when the slot was told to stop.
  if (event == Event::launched && slot.state == State::stopping)
    return go(slot, State::stopping, {Action::send_term});
  if (event == Event::launched && slot.state == State::killing)
    return go(slot, State::killing, {Action::send_kill});
  if (event == Event::stop_now && slot.state == State::draining) return stop(slot, now);
  if (event == Event::timer && slot.state == State::stopping)
    return go(slot, State::killing, {Action::send_kill});
  return stay(slot);
}

}  // namespace

SlotStep next_step(SlotRecord slot, SlotEvent event, SteadyTime now) {
  switch (slot.state) {
    case State::idle:
      return when_idle(slot, event, now);
    case State::backing_off:
      return when_backing_off(slot, event);
    case State::starting:
      return when_starting(slot, event, now);
    case State::running:
    case State::adopted:
      return when_working(slot, event, now);
    case State::draining:
    case State::stopping:
    case State::killing:
      return when_leaving(slot, event, now);
    case State::given_up:
    case State::ended:
      return stay(slot);
  }
  ARENA_ASSERT(false);
}

bool has_worker(SlotState state) {
  return state == State::starting || state == State::running || state == State::adopted ||
         state == State::draining || state == State::stopping || state == State::killing;
}

bool is_quiet(SlotState state) {
  return state == State::idle || state == State::given_up || state == State::ended;
}

std::string_view name_of(SlotState state) {
  switch (state) {
    case State::idle:
      return "idle";
    case State::starting:
      return "starting";
    case State::running:
      return "running";
    case State::adopted:
      return "adopted";
    case State::draining:
      return "draining";
    case State::stopping:
      return "stopping";
    case State::killing:
      return "killing";
    case State::backing_off:
      return "backing_off";
    case State::given_up:
      return "given_up";
    case State::ended:
      return "ended";
  }
  ARENA_ASSERT(false);
}

std::string_view name_of(SlotEvent event) {
  switch (event) {
    case Event::work_left:
      return "work_left";
    case Event::work_gone:
      return "work_gone";
    case Event::launched:
      return "launched";
    case Event::launch_failed:
      return "launch_failed";
    case Event::exited_done:
      return "exited_done";
    case Event::exited_unusable:
      return "exited_unusable";
    case Event::exited_halted:
      return "exited_halted";
    case Event::exited_badly:
      return "exited_badly";
    case Event::exited_unknown:
      return "exited_unknown";
    case Event::task_finished:
      return "task_finished";
    case Event::drain:
      return "drain";
    case Event::stop_now:
      return "stop_now";
    case Event::timer:
      return "timer";
  }
  ARENA_ASSERT(false);
}

}  // namespace arena
