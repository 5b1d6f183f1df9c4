#pragma once
// How an attempt ended and what becomes of its task. Pure: the same outcome always gives the same next state.
#include <optional>
#include <string>

#include "base/result.h"
#include "model/task_descriptor.h"
#include "queue/queue_layout.h"

namespace arena {

enum class AttemptPhase { setup, baseline, agent, evaluation, publication };
std::string_view name_of(AttemptPhase phase);

struct AttemptOutcome {
  CauseClass cause = CauseClass::completed;
  std::string message;  // why not completed
  bool disk_full = false;
  bool candidate_kept = false;       // the agent's work was published and can be evaluated again
  std::string halt_cause;            // with quota: "quota" or "auth", for the halt
  bool provider_overloaded = false;  // with infra_error: the worker waits before it claims again
  bool agent_was_empty = false;      // with agent_error: it reported success and had done nothing
  std::string result_digest;         // of task_result.yaml, when completed
  std::string processes_left;        // why processes of the attempt could not be ended; empty: none is left
};

// A failure of the runner in `phase` as a cause class. Verdicts on kernels are no failures and never come
// here.
AttemptOutcome outcome_of_error(AttemptPhase phase, const Error& error);

struct AttemptLimits {
  std::int64_t max_attempts = 3;
  std::int64_t max_evaluations = 3;
};

struct NextState {
  QueueState state = QueueState::done;  // done, failed or pending
  TaskDescriptor descriptor;            // as it is to be written
};
// `descriptor` is the claimed one, with the attempt counted. infra_error is tried again while attempts are
// left; when a candidate was kept, it costs an evaluation instead of an attempt. A full disk, quota and
// cancelled cost nothing: the task is not to blame, and the run is halted or the worker leaves.
NextState next_state(const AttemptOutcome& outcome, TaskDescriptor descriptor, const AttemptLimits& limits);

}  // namespace arena
