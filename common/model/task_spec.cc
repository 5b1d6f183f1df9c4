#include "model/task_spec.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "model/task_spec_schema.h"

namespace arena {

std::optional<std::string> normalized_task_path(std::string_view text) {
  const bool has_drive = text.size() > 1 && text[1] == ':';
  if (text.empty() || text[0] == '/' || has_drive || contains(text, "\\") ||
      contains(text, std::string_view("\0", 1)))
    return std::nullopt;
  std::string path;
  for (const std::string& part : split(text, "/")) {
    if (part == "..") return std::nullopt;
    if (part == ".") continue;
    if (!path.empty()) path += '/';
    path += part;
  }
  if (path.empty()) return std::nullopt;
  return path;
}

bool is_commit_id(std::string_view text) {
  return text.size() == 40 && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

Result<TaskSpec> parse_task_spec(std::string_view text, const std::string& name,
                                 std::vector<std::string>* warnings) {
  ARENA_ASSIGN(const YamlNode root, parse_yaml(text, name));
  const YamlNode* version = root.find("schema_version");
  if (version == nullptr) return read_task_spec_v1(root, name, warnings);
  const auto number = yaml_integer(*version);
  if (number == 1) return read_task_spec_v1(root, name, warnings);
  if (number == 2) return read_task_spec_v2(root, name);
  MappingReader reader(root, name, "");
  reader.add_error(reader.line_of("schema_version"), "schema_version", "expected 1 or 2");
  ARENA_TRY(reader.finish(UnknownKeys::ignore, nullptr));
  return TaskSpec{};  // not reached: the error above sticks
}

std::vector<std::string> editable_files(const TaskSpec& spec) {
  std::vector<std::string> files;
  for (const EditableScope& scope : spec.editable) files.push_back(scope.path);
  // In a repository an agent may have to touch headers and helpers that the task does not list; v0.2
  // evaluates them too.
  const bool is_repository = spec.task_type == "repository" || spec.task_type == "image_kernel";
  if (is_repository && spec.editable_sources.empty()) return {};
  if (spec.schema_version == 1) {
    files = spec.target_files.empty() ? spec.source_files : spec.target_files;
    files.insert(files.end(), spec.editable_sources.begin(), spec.editable_sources.end());
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

std::string platform_skip_reason(const PlatformSupport& platform, std::string_view architecture) {
  if (platform.skip)
    return platform.skip_reason.empty() ? "the task says skip"
                                        : "the task says skip: " + platform.skip_reason;
  const auto& required = platform.required_arch;
  if (required.empty() || std::find(required.begin(), required.end(), architecture) != required.end())
    return {};
  const std::string wanted = fmt::format("{}", fmt::join(required, " or "));
  if (architecture.empty()) return fmt::format("needs {}, and no GPU architecture is known here", wanted);
  return fmt::format("needs {}, here is {}", wanted, architecture);
}

}  // namespace arena
