#pragma once
// A descriptor: the file that orders one task, NNNNNN_<slug>.yaml in the queue. v0.2's keys first and in its
// order, then ours. Sealed: a cut or hand-edited descriptor does not open. Written by whoever owns it: the
// coordinator in pending/, the worker from the claim on.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/task_result.h"

namespace arena {

inline constexpr int kDescriptorSchemaVersion = 1;

enum class DescriptorStatus {
  pending,
  already_complete,
  done,
  failed
};  // frozen on disk; "pending" also while running
std::string_view name_of(DescriptorStatus status);

struct TaskDescriptor {
  std::int64_t index = 0;  // from 1, plan order
  std::int64_t total_tasks = 0;
  std::string task_name;        // hip2hip/gpumode/GELU
  std::string task_config_dir;  // path of config.yaml: relative to the project if below it, else absolute
                                // (v0.2's odd name)
  std::string workspace_path;   // absolute; for v0.2's readers, arena derives it from the run directory
  DescriptorStatus status = DescriptorStatus::pending;
  std::string worker_id;  // added at finish, as v0.2
  // arena
  std::string run_id;
  std::string task_digest;
  std::int64_t attempt = 0;  // of the claim under way or ended; 0: never claimed
  std::int64_t uncounted =
      0;  // attempts that ended in quota or cancelled: they do not count against max_attempts
  std::int64_t evaluations = 0;     // of a kept candidate
  std::string claimed_by;           // worker id
  std::string claimed_at;           // UTC
  std::optional<CauseClass> cause;  // how the last attempt ended
  std::string cause_message;
  std::string result_digest;  // of task_result.yaml as it stood when the task was done
};

std::string write_descriptor(const TaskDescriptor& descriptor);  // sealed
Result<TaskDescriptor> read_descriptor(std::string_view text, const std::string& name);
// Descriptors of v0.2, unsealed, for reports on its runs.
Result<TaskDescriptor> read_foreign_descriptor(std::string_view text, const std::string& name);

}  // namespace arena
