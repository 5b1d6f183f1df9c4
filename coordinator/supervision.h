#pragma once
// What happens to the worker of one slot, as a pure and total function state x event -> state and actions.
// The supervisor performs the actions and feeds the events; a test walks every pair. A slot is started again
// while work is pending, never in a hot loop, and is given up after kMostDeaths deaths in a row between which
// it finished nothing.
#include <chrono>
#include <string_view>
#include <vector>

#include "os/clock.h"

namespace arena {

enum class SlotState {
  idle,         // no worker; starts one when work is pending
  starting,     // launch requested
  running,      // our child
  adopted,      // started by an earlier coordinator: its exit is seen, its exit code is not
  draining,     // leaves after its task
  stopping,     // asked to stop (TERM), grace runs
  killing,      // KILL sent
  backing_off,  // no worker; work is pending but it is too early to start again
  given_up,     // no worker, none will be started: it failed too often or its command line is wrong
  ended,        // no worker, none will be started: drained or stopped
};
inline constexpr SlotState kSlotStates[] = {SlotState::idle,    SlotState::starting,    SlotState::running,
                                            SlotState::adopted, SlotState::draining,    SlotState::stopping,
                                            SlotState::killing, SlotState::backing_off, SlotState::given_up,
                                            SlotState::ended};
std::string_view name_of(SlotState state);

enum class SlotEvent {
  work_left,  // pending/ holds a task for this slot
  work_gone,  // pending/ is empty
  launched,
  launch_failed,
  exited_done,      // worker exit code 0 or 1: pending/ was empty
  exited_unusable,  // 2: usage or configuration; starting it again would not help
  exited_halted,    // 3: stopped or halted, its task handed back
  exited_badly,     // 4, any other code, a signal
  exited_unknown,   // an adopted worker: nobody can tell
  task_finished,    // its worker finished a task
  drain,            // no further claims; leave after the running task
  stop_now,         // end the running task too
  timer,            // the timer this slot started has run out
};
inline constexpr SlotEvent kSlotEvents[] = {
    SlotEvent::work_left,      SlotEvent::work_gone,       SlotEvent::launched,      SlotEvent::launch_failed,
    SlotEvent::exited_done,    SlotEvent::exited_unusable, SlotEvent::exited_halted, SlotEvent::exited_badly,
    SlotEvent::exited_unknown, SlotEvent::task_finished,   SlotEvent::drain,         SlotEvent::stop_now,
    SlotEvent::timer};
std::string_view name_of(SlotEvent event);

enum class SlotAction {
  launch,   // a new worker; answer with launched or launch_failed
  recover,  // the worker is gone: sweep what it left, recover its entries
  send_term,
  send_kill,
  start_timer,  // until SlotRecord::not_before
  cancel_timer,
  report_given_up,
};

inline constexpr int kMostDeaths = 5;
inline constexpr std::chrono::seconds kLeastDelay{1};  // between two starts on one slot
inline constexpr std::chrono::seconds kMostDelay{60};
inline constexpr std::chrono::seconds kStopGrace{
    20};  // TERM to KILL; a worker ends its child within its own grace

struct SlotRecord {
  SlotState state = SlotState::idle;
  int deaths = 0;           // in a row, since a task was finished
  SteadyTime not_before{};  // no start earlier; also when the timer under way runs out
};

struct SlotStep {
  SlotRecord slot;
  std::vector<SlotAction> actions;  // in this order
};

SlotStep next_step(SlotRecord slot, SlotEvent event, SteadyTime now);

bool has_worker(SlotState state);
// Whether the slot can do nothing more by itself: idle, given up or ended.
bool is_quiet(SlotState state);

}  // namespace arena
