#include "worker/worker_loop.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <thread>

#include "queue/event_ledger.h"
#include "queue/halt.h"

namespace arena {

namespace {

Event event_of(const char* kind, const TaskDescriptor& descriptor) {
  Event event;
  event.kind = kind;
  event.task = descriptor.task_name;
  event.attempt = descriptor.attempt;
  return event;
}

}  // namespace

WorkerLoop::WorkerLoop(const WorkerSetup& setup, const QueueLayout& layout, FileSystem& disk, Clock& clock,
                       ProcessRunner& runner, std::function<Result<int>()> end_processes)
    : setup_(setup),
      layout_(layout),
      disk_(disk),
      clock_(clock),
      runner_(runner),
      end_processes_(std::move(end_processes)),
      queue_(disk, clock, layout, setup.worker_id) {}

WorkerExit WorkerLoop::run() {
  for (;;) {
    if (runner_.stop_requested()) {
      spdlog::info("asked to stop");
      return WorkerExit::stopped;
    }
    const auto halted = disk_.exists(layout_.worker_halt(setup_.worker_id));
    if (halted && *halted) {
      spdlog::info("asked to claim no more");
      return WorkerExit::stopped;
    }
    if (const Status healthy = setup_.assigned.check_health(); !healthy) {
      spdlog::error("{}: no further task is claimed", healthy.error().message);
      Event event;
      event.kind = "quarantine";
      event.message = healthy.error().message;
      event.more["device"] = setup_.device;
      static_cast<void>(record(std::move(event)));
      return WorkerExit::device_unfit;
    }
    const auto claimed = queue_.claim();
    if (!claimed) {
      spdlog::error("cannot claim a task: {}", claimed.error().message);
      if (claimed.error().code == ErrorCode::no_space) halt_run("no_space", claimed.error().message);
      return WorkerExit::cannot_go_on;
    }
    if (!*claimed) {
      const bool run_halted = claimed->error() == NoClaim::halted;
      spdlog::info(run_halted ? "the run is halted: no further task is claimed" : "no task is left to claim");
      if (run_halted) return WorkerExit::stopped;
      return some_failed_ ? WorkerExit::some_failed : WorkerExit::all_done;
    }
    switch (execute(**claimed)) {
      case Next::go_on:
        break;
      case Next::leave_stopped:
        return WorkerExit::stopped;
      case Next::leave_broken:
        return WorkerExit::cannot_go_on;
    }
  }
}

WorkerLoop::Next WorkerLoop::execute(const Claim& claim) {
  const TaskDescriptor& descriptor = claim.descriptor;
  spdlog::info("task {} ({} of {}): attempt {}", descriptor.task_name, descriptor.index,
               descriptor.total_tasks, descriptor.attempt);
  AttemptHooks hooks;
  hooks.end_processes = end_processes_;
  hooks.report = [&](AttemptPhase phase, const fs::path& log) {
    return report_phase(descriptor, phase, log);
  };
  AttemptOutcome outcome;
  if (const Status recorded = record(event_of("claim", descriptor)); !recorded) {
    outcome = outcome_of_error(AttemptPhase::setup, recorded.error());
  } else {
    outcome = TaskRun(setup_, layout_, disk_, clock_, runner_, descriptor, hooks).run();
  }
  return settle(claim, outcome);
}

WorkerLoop::Next WorkerLoop::settle(const Claim& claim, const AttemptOutcome& outcome) {
  const RunConfig& config = setup_.run.config;
  const NextState next = next_state(outcome, claim.descriptor, {config.max_attempts, config.max_evaluations});
  if (outcome.cause == CauseClass::completed) {
    spdlog::info("task {}: done", claim.descriptor.task_name);
  } else {
    spdlog::warn("task {}: {}, goes to {}/: {}", claim.descriptor.task_name, name_of(outcome.cause),
                 name_of(next.state), outcome.message);
  }
  // The halt comes before the task is claimable again.
  if (outcome.disk_full) halt_run("no_space", outcome.message);
  if (outcome.cause == CauseClass::quota)
    halt_run(outcome.halt_cause.empty() ? "quota" : outcome.halt_cause, outcome.message);
  const Status moved = next.state == QueueState::pending ? queue_.hand_back(claim, next.descriptor)
                                                         : queue_.finish(claim, next.descriptor, next.state);
  if (!moved) return after_failed_move(claim, moved.error());
  if (next.state == QueueState::failed) some_failed_ = true;

  Event end = event_of("end", claim.descriptor);
  end.cause = std::string(name_of(outcome.cause));
  end.message = outcome.message;
  if (outcome.agent_was_empty) end.more["agent"] = "empty";
  const Status recorded = record(std::move(end));
  if (!outcome.processes_left.empty()) {
    spdlog::error("processes of task {} cannot be ended: {}", claim.descriptor.task_name,
                  outcome.processes_left);
    return Next::leave_broken;
  }
  if (!recorded) {
    spdlog::error("cannot write the ledger: {}", recorded.error().message);
    if (recorded.error().code == ErrorCode::no_space) halt_run("no_space", recorded.error().message);
    return Next::leave_broken;
  }
  if (outcome.disk_full) return Next::leave_broken;
  if (outcome.agent_was_empty && was_empty_before()) {
    halt_run("agent", "two agents in a row reported success and had done nothing: " + outcome.message);
    return Next::leave_stopped;
  }
  overloads_in_a_row_ = outcome.provider_overloaded ? overloads_in_a_row_ + 1 : 0;
  if (outcome.provider_overloaded) back_off();
  return outcome.cause == CauseClass::cancelled || outcome.cause == CauseClass::quota ? Next::leave_stopped
                                                                                      : Next::go_on;
}

// The entry stays in running/: its result, if there is one, was written first, and recovery reads that order
// backwards.
WorkerLoop::Next WorkerLoop::after_failed_move(const Claim& claim, const Error& error) {
  const std::string& task = claim.descriptor.task_name;
  if (error.code == ErrorCode::not_found) {
    spdlog::error("task {}: was given to another worker meanwhile; attempt {} is dropped", task,
                  claim.descriptor.attempt);
    return Next::leave_stopped;
  }
  spdlog::error("task {}: stays in running/ until the run is resumed: {}", task, error.message);
  if (error.code == ErrorCode::no_space) halt_run("no_space", error.message);
  return Next::leave_broken;
}

// Over all workers of the run: a service that does nothing does so for each of them.
bool WorkerLoop::was_empty_before() {
  const auto names = disk_.list(layout_.events_directory());
  if (!names) return false;
  std::vector<Event> ends;
  for (const std::string& name : *names) {
    const auto text = disk_.read(layout_.events_directory() / name);
    if (!text) continue;
    for (Event& event : read_events(*text)) {
      if (event.kind == "end") ends.push_back(std::move(event));
    }
  }
  std::stable_sort(ends.begin(), ends.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  return ends.size() >= 2 && std::all_of(ends.end() - 2, ends.end(), [](const Event& event) {
           const auto agent = event.more.find("agent");
           return agent != event.more.end() && agent->second == "empty";
         });
}

// The task is pending again, for whoever comes first; this worker leaves the provider alone for a while.
void WorkerLoop::back_off() {
  constexpr std::chrono::seconds kMost{600};
  const auto delay = std::min<std::chrono::milliseconds>(
      kMost, setup_.overload_delay * (std::int64_t{1} << std::min(overloads_in_a_row_ - 1, 10)));
  spdlog::warn("the provider is overloaded: waits {} s", delay.count() / 1000);
  const SteadyTime until = clock_.steady_now() + delay;
  while (clock_.steady_now() < until && !runner_.stop_requested())
    std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(delay, std::chrono::milliseconds(200)));
}

Status WorkerLoop::report_phase(const TaskDescriptor& descriptor, AttemptPhase phase, const fs::path& log) {
  if (log.empty()) spdlog::info("task {}: {}", descriptor.task_name, name_of(phase));
  Event event = event_of("phase", descriptor);
  event.phase = std::string(name_of(phase));
  if (!log.empty()) {
    event.more["log"] = log.lexically_relative(layout_.run_directory()).string();
    spdlog::debug("task {}: output goes to {}", descriptor.task_name, log.string());
  }
  return record(std::move(event));
}

Status WorkerLoop::record(Event event) {
  event.time = format_utc(clock_.now());
  event.writer = setup_.worker_id;
  return append_event(disk_, layout_, event);
}

void WorkerLoop::halt_run(const std::string& cause, const std::string& message) {
  const Status halted = request_halt(disk_, layout_.halt_file(), {setup_.worker_id, cause, message});
  if (halted) {
    spdlog::error("the run is halted ({}): {}", cause, message);
  } else {
    spdlog::error("the run cannot be halted: {}", halted.error().message);
  }
}

}  // namespace arena
