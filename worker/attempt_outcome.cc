#include "worker/attempt_outcome.h"

namespace arena {

std::string_view name_of(AttemptPhase phase) {
  switch (phase) {
    case AttemptPhase::setup:
      return "setup";
    case AttemptPhase::baseline:
      return "baseline";
    case AttemptPhase::agent:
      return "agent";
    case AttemptPhase::evaluation:
      return "evaluation";
    case AttemptPhase::publication:
      return "publication";
  }
  return "";
}

namespace {

CauseClass cause_of_error(AttemptPhase phase, ErrorCode code) {
  if (code == ErrorCode::cancelled) return CauseClass::cancelled;
  if (code == ErrorCode::refused) return CauseClass::task_error;  // the task is not the one that was planned
  if (code == ErrorCode::no_space || code == ErrorCode::io) return CauseClass::infra_error;
  switch (phase) {
    case AttemptPhase::setup:
      if (code == ErrorCode::timed_out) return CauseClass::timed_out;
      return code == ErrorCode::busy ? CauseClass::infra_error : CauseClass::task_error;
    case AttemptPhase::agent:
      return CauseClass::agent_error;
    case AttemptPhase::baseline:
    case AttemptPhase::evaluation:
    case AttemptPhase::publication:
      return CauseClass::infra_error;
  }
  return CauseClass::infra_error;
}

}  // namespace

AttemptOutcome outcome_of_error(AttemptPhase phase, const Error& error) {
  AttemptOutcome outcome;
  outcome.cause = cause_of_error(phase, error.code);
  outcome.message = std::string(name_of(phase)) + ": " + error.message;
  outcome.disk_full = error.code == ErrorCode::no_space;
  return outcome;
}

NextState next_state(const AttemptOutcome& outcome, TaskDescriptor descriptor, const AttemptLimits& limits) {
  NextState next;
  const auto retry_if = [&next](bool retry) {
    next.state = retry ? QueueState::pending : QueueState::failed;
  };
  switch (outcome.cause) {
    case CauseClass::completed:
      next.state = QueueState::done;
      break;
    case CauseClass::task_error:
    case CauseClass::agent_error:
    case CauseClass::timed_out:
      next.state = QueueState::failed;
      break;
    case CauseClass::quota:
    case CauseClass::cancelled:
      ++descriptor.uncounted;
      next.state = QueueState::pending;
      break;
    case CauseClass::infra_error:
      if (outcome.disk_full) {
        ++descriptor.uncounted;
        next.state = QueueState::pending;
      } else if (outcome.candidate_kept) {
        ++descriptor.evaluations;
        ++descriptor.uncounted;
        retry_if(descriptor.evaluations < limits.max_evaluations);
      } else {
        retry_if(descriptor.attempt - descriptor.uncounted < limits.max_attempts);
      }
      break;
  }
  switch (next.state) {
    case QueueState::done:
      descriptor.status = DescriptorStatus::done;
      break;
    case QueueState::failed:
      descriptor.status = DescriptorStatus::failed;
      break;
    default:
      descriptor.status = DescriptorStatus::pending;
      break;
  }
  if (next.state != QueueState::pending) descriptor.worker_id = descriptor.claimed_by;
  descriptor.cause = outcome.cause;
  descriptor.cause_message = outcome.message;
  descriptor.result_digest = outcome.result_digest;
  next.descriptor = std::move(descriptor);
  return next;
}

}  // namespace arena
