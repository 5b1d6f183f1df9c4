// Schema v2. Every rule is checked, so that a task's author learns of a mistake today, although arena cannot
// run such tasks yet.
#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "model/task_spec_schema.h"

namespace arena {

namespace {

constexpr const char* kUnsupported =
    "schema version 2 with the evaluation protocol arena-eval-v1 cannot be run yet";

bool is_strict_path(std::string_view text) { return normalized_task_path(text) == text; }
bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.substr(0, directory.size()) == directory &&
         path[directory.size()] == '/';
}
bool is_inside(std::string_view path, const EditableScope& scope) {
  return path == scope.path || (scope.kind == EditableScope::Kind::tree && is_below(path, scope.path));
}

// A MappingReader whose nested mappings report to one place: the first error of the whole file.
class V2Reader {
 public:
  V2Reader(const YamlNode& root, const std::string& name) : root_(root), name_(name) {}

  Result<TaskSpec> read() {
    spec_.schema_version = 2;
    spec_.unsupported = kUnsupported;
    MappingReader reader(root_, name_, "");
    reader.ignore("schema_version");
    optional_text(reader, "description");
    const std::vector<std::string> instructions = paths(reader, "instructions");
    protected_ = {"config.yaml", "README.md"};
    protected_.insert(protected_.end(), instructions.begin(), instructions.end());
    child(reader, "kernel_identity", [&](MappingReader& r) {
      optional_text(r, "logical_operator");
      optional_text(r, "source_owner");
    });
    require(reader, "candidate");
    child(reader, "candidate", [&](MappingReader& r) { read_candidate(r); });
    read_baseline(reader);
    require(reader, "evaluation");
    child(reader, "evaluation", [&](MappingReader& r) { read_evaluation(r); });
    child(reader, "workspace", [&](MappingReader& r) { read_workspace(r); });
    child(reader, "platform_support", [&](MappingReader& r) { read_platform(r); });
    for (const std::string_view key : {"evaluation_profile", "evaluation_tools"}) {
      if (const YamlNode* node = reader.node(key); node != nullptr && node->kind != YamlNode::Kind::mapping) {
        error(reader, key, "expected keys with values");
      }
    }
    std::set<std::string> outputs;
    each(reader, "exports", [&](MappingReader& r) { read_export(r, outputs); });
    check_editable(reader);
    keep_first(reader.finish(UnknownKeys::error, nullptr));
    if (error_) return fail(*error_);
    return std::move(spec_);
  }

 private:
  void keep_first(const Status& status) {
    if (!status && !error_) error_ = status.error();
  }
  static void error(MappingReader& reader, std::string_view key, std::string_view problem) {
    reader.add_error(reader.line_of(key), key, problem);
  }
  static void require(MappingReader& reader, std::string_view key) {
    if (reader.node(key) == nullptr) error(reader, key, "required, but missing");
  }

  template <class Read>
  void read_child(const YamlNode& node, const std::string& context, Read read) {
    MappingReader reader(node, name_, context);
    read(reader);
    keep_first(reader.finish(UnknownKeys::error, nullptr));
  }
  template <class Read>
  void child(MappingReader& parent, std::string_view key, Read read) {
    if (const YamlNode* node = parent.node(key)) read_child(*node, parent.context_of(key), read);
  }
  // Each mapping of a list.
  template <class Read>
  void each(MappingReader& parent, std::string_view key, Read read) {
    const YamlNode* node = parent.node(key);
    if (node == nullptr) return;
    if (node->kind != YamlNode::Kind::sequence) return error(parent, key, "expected a list");
    for (std::size_t i = 0; i < node->items.size(); ++i)
      read_child(node->items[i], fmt::format("{}[{}]", parent.context_of(key), i), read);
  }

  static std::string optional_text(MappingReader& reader, std::string_view key) {
    const auto value = reader.string(key);
    if (value && value->empty()) error(reader, key, "must not be empty");
    return value.value_or("");
  }

  // One of `words`; the first is the default.
  static std::string choice(MappingReader& reader, std::string_view key,
                            const std::vector<std::string>& words) {
    const auto value = reader.string(key);
    if (!value) return words[0];
    if (std::find(words.begin(), words.end(), *value) == words.end()) {
      error(reader, key,
            fmt::format("expected one of {}, not '{}'", fmt::join(words, ", "), to_printable_utf8(*value)));
    }
    return *value;
  }

  static std::string path(MappingReader& reader, std::string_view key) {
    std::string value = optional_text(reader, key);
    if (!value.empty() && !is_strict_path(value)) error(reader, key, bad_path(value));
    return value;
  }
  static std::string required_path(MappingReader& reader, std::string_view key) {
    reader.required_string(key);
    return path(reader, key);
  }
  static std::vector<std::string> list(MappingReader& reader, std::string_view key) {
    const YamlNode* node = reader.node(key);
    if (node == nullptr) return {};
    auto values = yaml_string_list(*node);
    if (!values) error(reader, key, values.error().message);
    return values.value_or(std::vector<std::string>{});
  }
  static std::vector<std::string> paths(MappingReader& reader, std::string_view key) {
    std::vector<std::string> values = list(reader, key);
    for (const std::string& value : values) {
      if (!is_strict_path(value)) error(reader, key, bad_path(value));
    }
    return values;
  }
  static std::string bad_path(std::string_view value) {
    return fmt::format("'{}' is not a normalized path inside the task", to_printable_utf8(value));
  }

  static void timeout(MappingReader& reader, std::string_view key = "timeout_s") {
    reader.integer(key, 1, kMaximumTaskSeconds);
  }

  // A program and its arguments; a single text would be a shell line, which v2 does not have.
  static void check_argv(MappingReader& reader, std::string_view key, const YamlNode& node) {
    const auto words = yaml_string_list(node);
    if (!words || words->empty() || (*words)[0].empty())
      error(reader, key, "expected a list of words, the program and its arguments");
  }
  static void argv_list(MappingReader& reader, std::string_view key) {
    const YamlNode* node = reader.node(key);
    if (node == nullptr) return;
    if (node->kind != YamlNode::Kind::sequence || node->items.empty())
      return error(reader, key, "expected a list of commands, each a list of words");
    for (const YamlNode& item : node->items) check_argv(reader, key, item);
  }

  void read_candidate(MappingReader& reader) {
    spec_.repository_language = reader.required_string("language");
    implemented_ = choice(reader, "initial_state", {"implemented", "unimplemented"}) == "implemented";
    optional_text(reader, "initial_language");
    if (!implemented_ && reader.node("initial_language") != nullptr) {
      error(reader, "initial_language", "makes no sense with initial_state unimplemented");
    }
    read_editable(reader);
    std::set<std::string> seen;
    each(reader, "entrypoints", [&](MappingReader& r) { read_entrypoint(r, seen); });
  }

  void read_editable(MappingReader& reader) {
    const YamlNode* node = reader.node("editable");
    if (node == nullptr || node->kind != YamlNode::Kind::sequence || node->items.empty()) {
      return error(reader, "editable", "expected a list of at least one file that the candidate may change");
    }
    for (std::size_t i = 0; i < node->items.size(); ++i) {
      const YamlNode& item = node->items[i];
      EditableScope scope;
      if (item.kind == YamlNode::Kind::scalar) {
        scope.path = item.scalar;
        if (!is_strict_path(scope.path)) reader.add_error(item.line, "editable", bad_path(scope.path));
      } else {
        read_child(item, fmt::format("candidate.editable[{}]", i),
                   [&](MappingReader& r) { read_scope(r, scope); });
      }
      for (const EditableScope& other : spec_.editable) {
        if (is_inside(scope.path, other) || is_inside(other.path, scope)) {
          reader.add_error(item.line, "editable",
                           fmt::format("'{}' and '{}' overlap", other.path, scope.path));
        }
      }
      spec_.editable.push_back(std::move(scope));
    }
  }

  static void read_scope(MappingReader& reader, EditableScope& scope) {
    scope.path = required_path(reader, "path");
    const std::string kind = choice(reader, "scope", {"file", "symbols", "tree"});
    scope.kind = kind == "symbols" ? EditableScope::Kind::symbols
                 : kind == "tree"  ? EditableScope::Kind::tree
                                   : EditableScope::Kind::file;
    scope.symbols = list(reader, "symbols");
    scope.allow_new_helpers = reader.boolean("allow_new_helpers").value_or(false);
    const std::set<std::string> unique(scope.symbols.begin(), scope.symbols.end());
    if (kind == "symbols") {
      if (unique.empty() || unique.size() != scope.symbols.size() || unique.count("") != 0) {
        error(reader, "symbols", "expected at least one name and none twice");
      }
      return;
    }
    for (const std::string_view key : {"symbols", "allow_new_helpers"}) {
      if (reader.node(key) != nullptr) error(reader, key, "belongs to the scope symbols");
    }
  }

  void read_entrypoint(MappingReader& reader, std::set<std::string>& seen) {
    const std::string file = required_path(reader, "file");
    reader.required_string("kind");
    const std::string kind = choice(reader, "kind", {"function", "builder", "class", "executable"});
    const std::string symbol = optional_text(reader, "symbol");
    if (kind == "executable" && reader.node("symbol") != nullptr)
      error(reader, "symbol", "an executable has no symbol");
    if (kind != "executable" && symbol.empty()) error(reader, "symbol", "required, but missing");
    const bool is_editable = std::any_of(spec_.editable.begin(), spec_.editable.end(),
                                         [&](const auto& scope) { return is_inside(file, scope); });
    if (!is_editable) error(reader, "file", fmt::format("'{}' is not in candidate.editable", file));
    if (!seen.insert(file + '\n' + kind + '\n' + symbol).second)
      error(reader, "file", "this entry point is given twice");
    if (!symbol.empty()) spec_.target_functions.push_back(symbol);
  }

  void read_baseline(MappingReader& parent) {
    child(parent, "baseline", [&](MappingReader& reader) {
      const std::string kind =
          choice(reader, "kind",
                 implemented_ ? std::vector<std::string>{"initial_candidate", "provided"}
                              : std::vector<std::string>{"provided", "initial_candidate"});
      if (!implemented_ && kind == "initial_candidate")
        error(reader, "kind", "an unimplemented candidate is no baseline");
      optional_text(reader, "language");
      spec_.source_files = paths(reader, "source_files");
      const bool is_diagnostic =
          choice(reader, "correctness_policy", {"required", "diagnostic"}) == "diagnostic";
      const std::string reason = optional_text(reader, "diagnostic_reason");
      if (is_diagnostic && reason.empty())
        error(reader, "diagnostic_reason", "required with correctness_policy diagnostic");
      if (!is_diagnostic && reader.node("diagnostic_reason") != nullptr) {
        error(reader, "diagnostic_reason", "belongs to correctness_policy diagnostic");
      }
    });
    protected_.insert(protected_.end(), spec_.source_files.begin(), spec_.source_files.end());
  }

  void read_evaluation(MappingReader& reader) {
    const YamlNode* runner = reader.node("runner");
    if (runner != nullptr) check_argv(reader, "runner", *runner);
    if (const std::string workloads = path(reader, "workloads"); !workloads.empty())
      protected_.push_back(workloads);
    timeout(reader);
    int with_commands = 0;
    const auto action = [&](MappingReader& r) {
      argv_list(r, "commands");
      with_commands += r.node("commands") != nullptr;
      timeout(r);
    };
    child(reader, "task", action);
    for (const std::string_view role : {"baseline", "candidate"}) {
      child(reader, role, [&](MappingReader& r) {
        for (const std::string_view name : {"compile", "correctness", "performance"}) child(r, name, action);
      });
    }
    if (runner == nullptr && with_commands != 7) {
      error(reader, "runner", "required unless each of the seven actions has commands of its own");
    }
    child(reader, "measurement", [&](MappingReader& r) {
      r.required_string("kind");
      choice(r, "kind", {"serving"});
      path(r, "runtime_lock");
      r.integer("pairs", 1, 1'000'000);
      if (const auto limit = r.number("max_p99_tpot_ms"); limit && !(*limit > 0))
        error(r, "max_p99_tpot_ms", "expected a number above 0");
    });
  }

  void read_workspace(MappingReader& reader) {
    std::vector<std::string> destinations;
    each(reader, "sources", [&](MappingReader& r) {
      r.required_string("kind");
      const bool is_git = choice(r, "kind", {"image", "git"}) == "git";
      const std::string destination = required_path(r, "destination");
      for (const std::string& other : destinations) {
        if (other == destination || is_below(other, destination) || is_below(destination, other)) {
          error(r, "destination", fmt::format("'{}' and '{}' are nested", other, destination));
        }
      }
      destinations.push_back(destination);
      is_git ? read_git_source(r) : read_image_source(r);
    });
    argv_list(reader, "setup");
    timeout(reader);
  }

  static void read_git_source(MappingReader& reader) {
    const std::string url = reader.required_string("url");
    if (!url.empty() && url[0] == '-') error(reader, "url", "not an address of a repository");
    if (!is_commit_id(reader.required_string("revision")))
      error(reader, "revision", "expected a commit of 40 hexadecimal digits");
  }

  static void read_image_source(MappingReader& reader) {
    const std::string image_path = reader.required_string("image_path");
    if (image_path.size() < 2 || image_path[0] != '/' ||
        !is_strict_path(std::string_view(image_path).substr(1))) {
      error(reader, "image_path", "expected a normalized absolute path in the image");
    }
    paths(reader, "exclude");
  }

  void read_platform(MappingReader& reader) {
    spec_.platform.skip = choice(reader, "status", {"active", "skip"}) == "skip";
    spec_.platform.skip_reason = optional_text(reader, "skip_reason");
    if (spec_.platform.skip && spec_.platform.skip_reason.empty())
      error(reader, "skip_reason", "required with status skip");
    const auto required = reader.string_list("required_arch");
    if (!required) return;
    const std::set<std::string> unique(required->begin(), required->end());
    const bool has_wildcard = std::any_of(required->begin(), required->end(), [](const std::string& arch) {
      return arch.find_first_of("*?[ ") != std::string::npos;
    });
    if (unique.empty() || unique.size() != required->size() || unique.count("") != 0 || has_wildcard) {
      error(reader, "required_arch", "expected exact names of architectures, none twice");
    }
    spec_.platform.required_arch = *required;
  }

  static void read_export(MappingReader& reader, std::set<std::string>& outputs) {
    reader.required_string("format");
    if (!outputs.insert(required_path(reader, "output")).second)
      error(reader, "output", "another export writes this file too");
    const YamlNode* command = reader.node("command");
    if (command == nullptr) return error(reader, "command", "required, but missing");
    check_argv(reader, "command", *command);
    timeout(reader);
  }

  // What decides about a candidate must not be the candidate's to change.
  void check_editable(MappingReader& reader) {
    for (const EditableScope& scope : spec_.editable) {
      for (const std::string& file : protected_) {
        if (is_inside(file, scope) || is_below(scope.path, file)) {
          error(reader, "candidate",
                fmt::format("editable '{}' covers '{}', which a candidate may not change", scope.path, file));
        }
      }
    }
  }

  const YamlNode& root_;
  const std::string& name_;
  TaskSpec spec_;
  bool implemented_ = true;
  std::vector<std::string> protected_;
  std::optional<Error> error_;
};

}  // namespace

Result<TaskSpec> read_task_spec_v2(const YamlNode& root, const std::string& name) {
  return V2Reader(root, name).read();
}

}  // namespace arena
