// Schema v1, as AgentKernelArena v0.2's task authors write it.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "model/task_spec_schema.h"

namespace arena {

namespace {

// Keys that say something to people or to other tools, nothing to arena.
constexpr std::array<std::string_view, 6> kInformation = {"schema_version",  "task_result_template",
                                                          "kernel_identity", "source_origin",
                                                          "supported_archs", "aiter_commit"};
constexpr std::array<std::string_view, 4> kRepositoryLanguages = {"hip", "triton", "flydsl", "tilelang"};

class V1Reader {
 public:
  V1Reader(const YamlNode& root, const std::string& name, std::vector<std::string>* warnings)
      : reader_(root, name, ""), name_(name), warnings_(warnings) {}

  Result<TaskSpec> read() {
    for (const std::string_view key : kInformation) reader_.ignore(key);
    read_task_type();
    spec_.source_files = paths("source_file_path");
    spec_.target_files = paths("target_file_path");
    if (!spec_.target_files.empty()) spec_.target_file = spec_.target_files[0];
    spec_.editable_sources = paths("editable_sources");
    spec_.target_functions = list("target_kernel_functions");
    if (const auto harness = paths("harness_path"); !harness.empty()) spec_.harness_path = harness[0];
    read_commands();
    read_repository();
    read_platform();
    ARENA_TRY(read_prompt());
    ARENA_TRY(reader_.finish(UnknownKeys::warn, warnings_));
    return std::move(spec_);
  }

 private:
  void error(std::string_view key, std::string_view problem) {
    reader_.add_error(reader_.line_of(key), key, problem);
  }
  void warn(int line, std::string_view key, std::string_view problem) {
    if (warnings_ != nullptr) warnings_->push_back(fmt::format("{}:{}: {}: {}", name_, line, key, problem));
  }

  // One text or a list of them, none of them empty.
  std::vector<std::string> list(std::string_view key) {
    auto values = reader_.string_list(key).value_or(std::vector<std::string>{});
    const auto is_blank = [](const std::string& value) { return trim(value).empty(); };
    if (std::any_of(values.begin(), values.end(), is_blank)) error(key, "must not be empty");
    return values;
  }

  std::vector<std::string> paths(std::string_view key) {
    std::vector<std::string> values = list(key);
    for (std::string& value : values) {
      const auto path = normalized_task_path(value);
      if (!path) error(key, fmt::format("'{}' is not a path inside the task", to_printable_utf8(value)));
      value = path.value_or("");
    }
    return values;
  }

  void read_task_type() {
    spec_.task_type = reader_.required_string("task_type");
    const bool is_name =
        spec_.task_type.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == std::string::npos;
    if (!is_name)
      error("task_type",
            fmt::format("'{}' is not the name of a task type", to_printable_utf8(spec_.task_type)));
  }

  void read_commands() {
    spec_.compile_commands = list("compile_command");  // none: nothing to compile
    spec_.correctness_commands = list("correctness_command");
    spec_.performance_commands = list("performance_command");
    if (spec_.correctness_commands.empty()) error("correctness_command", "required, but missing or empty");
    if (spec_.performance_commands.empty()) {
      warn(reader_.line_of("performance_command"), "performance_command",
           "missing: no speedup will be measured");
    }
    const auto seconds = [&](std::string_view key) -> std::optional<std::chrono::seconds> {
      const auto value = reader_.integer(key, 1, kMaximumTaskSeconds);
      if (!value) return std::nullopt;
      return std::chrono::seconds(*value);
    };
    spec_.compile_timeout = seconds("compile_timeout");
    spec_.correctness_timeout = seconds("correctness_timeout");
    spec_.performance_timeout = seconds("performance_timeout");
  }

  void read_repository() {
    RepositorySource& repository = spec_.repository;
    repository.url = reader_.string("repo_url").value_or("");
    if (!repository.url.empty() && repository.url[0] == '-')
      error("repo_url", "not an address of a repository");
    repository.revision = reader_.string("repo_commit").value_or("");
    if (!repository.revision.empty() && !is_commit_id(repository.revision))
      error("repo_commit", "expected a commit of 40 hexadecimal digits");
    if (const auto subdirectory = reader_.string("repo_subdir"); subdirectory && *subdirectory != ".") {
      const auto path = normalized_task_path(*subdirectory);
      if (!path) error("repo_subdir", "expected a path inside the repository");
      repository.subdirectory = path.value_or("");
    }
    repository.post_clone_install = list("post_clone_install");
    const std::string mode = reader_.string("post_clone_install_mode").value_or("after_clone");
    repository.install_every_setup = mode == "every_setup";
    if (mode != "after_clone" && mode != "every_setup")
      error("post_clone_install_mode", "expected after_clone or every_setup");
    read_image(repository);
    read_language();
  }

  void read_image(RepositorySource& repository) {
    repository.image_exclude = list("image_repo_exclude");
    repository.image_path = reader_.string("image_repo_path").value_or("");
    const std::string& path = repository.image_path;
    const bool is_absolute =
        path.size() > 1 && path[0] == '/' && normalized_task_path(std::string_view(path).substr(1));
    if (!path.empty() && !is_absolute)
      error("image_repo_path", "expected an absolute path in the image, without '..'");
    if (path.empty() && spec_.task_type == "image_kernel")
      error("image_repo_path", "required with the task type image_kernel");
  }

  void read_language() {
    spec_.repository_language = reader_.string("repository_language").value_or("");
    const std::string& language = spec_.repository_language;
    const bool is_known = std::find(kRepositoryLanguages.begin(), kRepositoryLanguages.end(), language) !=
                          kRepositoryLanguages.end();
    const bool is_needed = spec_.task_type == "repository" || spec_.task_type == "image_kernel";
    if ((is_needed || !language.empty()) && !is_known) {
      error("repository_language", fmt::format("expected one of {}", fmt::join(kRepositoryLanguages, ", ")));
    }
  }

  // Whatever is odd here lets the task run, as v0.2 does, but not silently.
  void read_platform() {
    const YamlNode* node = reader_.node("platform_support");
    if (node == nullptr || node->is_null()) return;
    if (node->kind != YamlNode::Kind::mapping) {
      return warn(node->line, "platform_support", "expected keys with values; it is ignored");
    }
    PlatformSupport& platform = spec_.platform;
    for (const YamlEntry& entry : node->entries) {
      const std::string key = "platform_support." + to_printable_utf8(entry.key);
      if (entry.key == "status") {
        read_status(entry, key);
      } else if (entry.key == "skip_reason") {
        platform.skip_reason = entry.value.scalar;
      } else if (entry.key == "required_arch") {
        read_required_arch(entry, key);
      } else if (entry.key.substr(0, 12) != "runnable_on_") {
        warn(entry.key_line, key, "unknown key");
      }
    }
  }

  void read_status(const YamlEntry& entry, const std::string& key) {
    if (entry.value.is_null()) return;
    const std::string status = to_lower(trim(entry.value.scalar));
    spec_.platform.skip = status == "skip";
    if (status == "skip" || status == "active") return;
    spec_.platform.unknown_status = to_printable_utf8(entry.value.scalar);
    warn(entry.key_line, key,
         fmt::format("unknown status '{}'; the task runs", spec_.platform.unknown_status));
  }

  void read_required_arch(const YamlEntry& entry, const std::string& key) {
    if (entry.value.is_null()) return;
    const bool is_number =
        entry.value.kind == YamlNode::Kind::scalar && (yaml_double(entry.value) || yaml_bool(entry.value));
    auto names = yaml_string_list(entry.value);
    if (entry.value.kind == YamlNode::Kind::scalar && !is_number)
      names = std::vector<std::string>{entry.value.scalar};
    if (!names)
      return warn(entry.key_line, key,
                  "expected the name of an architecture or a list of them; it is ignored");
    std::copy_if(names->begin(), names->end(), std::back_inserter(spec_.platform.required_arch),
                 [](const auto& arch) { return !arch.empty(); });
  }

  Status read_prompt() {
    const YamlNode* node = reader_.node("prompt");
    if (node == nullptr || node->is_null()) return {};
    MappingReader reader(*node, name_, "prompt");
    const auto text = [&](std::string_view key) {
      auto value = reader.string(key);
      return value && value->empty() ? std::nullopt : value;
    };
    spec_.prompt.source_code = text("source_code");
    spec_.prompt.instructions = text("instructions");
    spec_.prompt.cheatsheet = text("cheatsheet");
    spec_.prompt.output_format = text("output_format");
    spec_.prompt.task_type = text("task_type");
    return reader.finish(UnknownKeys::warn, warnings_);
  }

  MappingReader reader_;
  const std::string& name_;
  std::vector<std::string>* warnings_;
  TaskSpec spec_;
};

}  // namespace

Result<TaskSpec> read_task_spec_v1(const YamlNode& root, const std::string& name,
                                   std::vector<std::string>* warnings) {
  return V1Reader(root, name, warnings).read();
}

}  // namespace arena
