#include <tuple>

#include "queue/recovery.h"

namespace arena {

namespace {

using Action = RecoveryStep::Action;

Action action_for(const RunningEntry& entry, const RecoveryLimits& limits) {
  if (entry.owner_alive) return Action::keep;
  if (!entry.descriptor) return Action::to_corrupt;
  const TaskDescriptor& descriptor = *entry.descriptor;
  // A claim counts from the moment its claimer's name is in the descriptor; before that, the attempt in it is
  // the one before.
  if (descriptor.claimed_by == entry.name.worker_id) {
    if (descriptor.status == DescriptorStatus::failed) return Action::to_failed;
    if (entry.has_result) return Action::to_done;
  }
  return descriptor.attempt - descriptor.uncounted < limits.max_attempts ? Action::to_pending
                                                                         : Action::to_failed;
}

bool has_ended(const TaskCopy& copy) {
  return copy.state == QueueState::done || copy.state == QueueState::failed;
}

// How late within one attempt. An end that says "pending" was being sent round again, and its copy in
// pending/ is later.
int rank(const TaskCopy& copy) {
  if (has_ended(copy)) return copy.descriptor->status == DescriptorStatus::pending ? 0 : 3;
  return copy.state == QueueState::pending ? 2 : 1;
}

}  // namespace

std::vector<RecoveryStep> plan_recovery(const std::vector<RunningEntry>& running,
                                        const RecoveryLimits& limits) {
  std::vector<RecoveryStep> steps;
  steps.reserve(running.size());
  for (const RunningEntry& entry : running) steps.push_back({entry.name, action_for(entry, limits)});
  return steps;
}

std::optional<std::size_t> latest_copy(const std::vector<TaskCopy>& copies) {
  const auto lateness = [&](std::size_t i) {
    return std::tuple(copies[i].descriptor->attempt, rank(copies[i]));
  };
  std::optional<std::size_t> latest;
  bool tie = false;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (copies[i].owner_alive) return std::nullopt;
    if (!copies[i].descriptor) {
      // A claim that a power loss tore says nothing, nor does anything depend on it; elsewhere it could be
      // the end.
      if (copies[i].state == QueueState::running) continue;
      return std::nullopt;
    }
    tie = latest && lateness(i) == lateness(*latest) ? true : tie;
    if (!latest || lateness(i) > lateness(*latest)) {
      latest = i;
      tie = false;
    }
  }
  return tie ? std::nullopt : latest;
}

}  // namespace arena
