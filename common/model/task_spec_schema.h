#pragma once
// What the two schemas of a task's configuration share (model/task_spec.cc). Nothing else includes this.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/task_spec.h"
#include "model/yaml.h"

namespace arena {

Result<TaskSpec> read_task_spec_v1(const YamlNode& root, const std::string& name,
                                   std::vector<std::string>* warnings);
Result<TaskSpec> read_task_spec_v2(const YamlNode& root, const std::string& name);

inline constexpr std::int64_t kMaximumTaskSeconds = 7 * 24 * 3600;

// `text` as a path inside the task: without "./" and doubled or final slashes. Nothing for what is absolute,
// leaves the task, has a backslash or a drive letter, or is empty.
std::optional<std::string> normalized_task_path(std::string_view text);
bool is_commit_id(std::string_view text);  // 40 hexadecimal digits

}  // namespace arena
