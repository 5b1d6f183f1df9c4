#include "coordinator/catalog.h"

#include <dirent.h>
#include <fnmatch.h>

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "coordinator/parallel.h"
#include "coordinator/task_digests.h"
#include "os/file_system.h"
#include "os/tree.h"

namespace arena {

namespace {

constexpr const char* kConfigFile = "config.yaml";
constexpr std::size_t kMaximumConfigBytes = 4 << 20;
constexpr std::size_t kMaximumDepth = 32;
constexpr std::size_t kSuggestions = 3;

bool has_wildcard(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

// Walks from the tasks directory along one selector after the other and collects names of tasks.
class Finder {
 public:
  explicit Finder(fs::path root) : root_(std::move(root)) {}

  const std::set<std::string>& names() const { return names_; }
  const std::set<std::string>& folders() const { return folders_; }

  void find_all() { collect({root_, ""}); }

  // Does the selector pick anything?
  bool find(const std::vector<std::string>& parts) {
    const std::size_t before = hits_;
    expand({root_, ""}, parts, 0);
    return hits_ > before;
  }

 private:
  struct Place {
    fs::path directory;
    std::string name;  // empty for the tasks directory itself, which is never a task
  };

  static bool is_task(const Place& place) {
    boost::system::error_code error;
    return !place.name.empty() && fs::status(place.directory / kConfigFile, error).type() == fs::regular_file;
  }

  // A directory entry as a place, if it can hold tasks.
  bool enter(const Place& parent, const std::string& entry, fs::file_type type, Place& child) const {
    if (entry.empty() || entry[0] == '.') return false;
    child = {parent.directory / entry, parent.name.empty() ? entry : parent.name + '/' + entry};
    boost::system::error_code error;
    const bool is_link = type == fs::symlink_file;
    if (type != fs::directory_file && !(is_link && fs::is_directory(child.directory, error))) return false;
    if (static_cast<std::size_t>(std::count(child.name.begin(), child.name.end(), '/')) >= kMaximumDepth)
      return false;
    return !is_link || !leads_back(parent.directory, child.directory);
  }

  // Is the target of the link one of the directories that we came through?
  bool leads_back(fs::path directory, const fs::path& link) const {
    boost::system::error_code error;
    for (;; directory = directory.parent_path()) {
      if (fs::equivalent(directory, link, error)) return true;
      if (directory == root_ || !directory.has_parent_path()) return false;
    }
  }

  // As a rule the listing has said it already, which Boost's iterator does not use.
  static fs::file_type type_of(const Place& parent, const dirent& entry) {
    switch (entry.d_type) {
      case DT_DIR:
        return fs::directory_file;
      case DT_LNK:
        return fs::symlink_file;
      case DT_UNKNOWN:
        break;
      default:
        return fs::regular_file;
    }
    boost::system::error_code error;
    return fs::symlink_status(parent.directory / entry.d_name, error).type();
  }

  std::vector<Place> children(const Place& place) const {
    std::vector<Place> found;
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(place.directory.c_str()), ::closedir);
    if (!stream) return found;
    while (const dirent* const entry = ::readdir(stream.get())) {
      Place child;
      if (enter(place, entry->d_name, type_of(place, *entry), child)) found.push_back(std::move(child));
    }
    return found;
  }

  void collect(const Place& place) {
    if (is_task(place)) {
      names_.insert(place.name);
      ++hits_;
      return;
    }
    if (!place.name.empty()) folders_.insert(place.name);
    const std::vector<Place> found = children(place);
    std::vector<char> are_tasks(found.size());
    for_each_in_parallel(found.size(), [&](std::size_t i) { are_tasks[i] = is_task(found[i]) ? 1 : 0; });
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (are_tasks[i] == 0) {
        collect(found[i]);
        continue;
      }
      names_.insert(found[i].name);
      ++hits_;
    }
  }

  void expand(const Place& place, const std::vector<std::string>& parts, std::size_t next) {
    if (next == parts.size()) return collect(place);
    if (is_task(place)) return;  // nothing inside a task is a task
    const std::string& part = parts[next];
    if (part == "**") {
      expand(place, parts, next + 1);
      for (const Place& child : children(place)) expand(child, parts, next);
    } else if (has_wildcard(part)) {
      for (const Place& child : children(place)) {
        const std::string entry = child.directory.filename().string();
        if (fnmatch(part.c_str(), entry.c_str(), FNM_PERIOD | FNM_NOESCAPE) == 0)
          expand(child, parts, next + 1);
      }
    } else {
      boost::system::error_code error;
      Place child;
      if (enter(place, part, fs::symlink_status(place.directory / part, error).type(), child))
        expand(child, parts, next + 1);
    }
  }

  fs::path root_;
  std::set<std::string> names_;
  std::set<std::string> folders_;  // on the way to tasks
  std::size_t hits_ = 0;
};

Error no_match(const std::string& selector, const fs::path& root) {
  Finder everything(root);
  everything.find_all();
  std::vector<std::string> candidates(everything.names().begin(), everything.names().end());
  candidates.insert(candidates.end(), everything.folders().begin(), everything.folders().end());
  std::vector<std::string> nearest;
  if (const auto word = nearest_word(selector, candidates)) nearest.push_back(*word);
  const std::string last = to_lower(selector.substr(selector.rfind('/') + 1));
  for (const std::string& name : candidates) {
    if (nearest.size() >= kSuggestions) break;
    if (!last.empty() && contains(to_lower(name), last) && (nearest.empty() || nearest[0] != name))
      nearest.push_back(name);
  }
  std::string message =
      fmt::format("tasks: no task matches '{}' below '{}'", to_printable_utf8(selector), root.string());
  if (!nearest.empty()) message += fmt::format("; did you mean {}?", fmt::join(nearest, " or "));
  return {ErrorCode::invalid_input, message};
}

Result<TaskSpec> load_task(const fs::path& file, std::vector<std::string>& warnings) {
  ARENA_ASSIGN(const std::string text, RealFileSystem().read(file));
  if (text.size() > kMaximumConfigBytes)
    return fail(ErrorCode::invalid_input,
                fmt::format("'{}' is too large to be a task's configuration", file.string()));
  return parse_task_spec(text, file.string(), &warnings);
}

bool is_untouched(const fs::path& root, const PlannedTask& task) {
  const auto stat_digest = stat_digest_tree(root / task.name, copy_of_tasks(root));
  return stat_digest && *stat_digest == task.stat_digest;
}

CatalogTask load_entry(const fs::path& root, const std::string& name, const PlannedTask* known) {
  CatalogTask task;
  task.name = to_printable_utf8(name);
  std::replace_if(
      task.name.begin(), task.name.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  task.directory = root / name;
  if (known != nullptr && !known->digest.empty() && is_untouched(root, *known)) {
    task.digest = known->digest;
    task.stat_digest = known->stat_digest;
    return task;
  }
  if (task.name != name) {
    task.problem = fmt::format("{}: the directory's name is not printable text; rename it", task.name);
    return task;
  }
  auto spec = load_task(task.directory / kConfigFile, task.warnings);
  if (spec) {
    task.spec = std::move(*spec);
  } else {
    task.problem = spec.error().message;
  }
  return task;
}

}  // namespace

Result<std::vector<CatalogTask>> load_catalog(const fs::path& tasks_directory,
                                              const std::vector<std::string>& selectors,
                                              const std::vector<PlannedTask>& known) {
  boost::system::error_code error;
  const fs::path root = fs::system_complete(tasks_directory, error).lexically_normal();
  if (!fs::is_directory(root, error)) {
    return fail(ErrorCode::invalid_input,
                fmt::format("the tasks directory '{}' does not exist", tasks_directory.string()));
  }
  Finder finder(root);
  if (std::find(selectors.begin(), selectors.end(), "all") != selectors.end()) {
    finder.find_all();
    if (finder.names().empty())
      return fail(ErrorCode::invalid_input, fmt::format("there is no task below '{}'", root.string()));
  } else {
    for (const std::string& selector : selectors) {
      std::vector<std::string> parts = split(selector, "/");
      parts.erase(std::remove(parts.begin(), parts.end(), "."), parts.end());
      const bool leads_out = selector.empty() || selector[0] == '/' ||
                             std::find(parts.begin(), parts.end(), "..") != parts.end();
      if (leads_out) {
        return fail(
            ErrorCode::invalid_input,
            fmt::format("tasks: '{}' is not a path below the tasks directory", to_printable_utf8(selector)));
      }
      if (!finder.find(parts)) return fail(no_match(selector, root));
    }
  }
  const std::vector<std::string> names(finder.names().begin(), finder.names().end());
  std::vector<CatalogTask> tasks(names.size());
  std::unordered_map<std::string_view, const PlannedTask*> known_by_name;
  for (const PlannedTask& task : known) known_by_name.emplace(task.name, &task);
  for_each_in_parallel(names.size(), [&](std::size_t i) {
    const auto found = known_by_name.find(names[i]);
    tasks[i] = load_entry(root, names[i], found == known_by_name.end() ? nullptr : found->second);
  });
  return tasks;
}

}  // namespace arena
