#include "worker/harness_guard.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace arena {

namespace {

constexpr std::array<std::string_view, 8> kProtectedNames = {
    "script",      "scripts",    "test",        "tests",
    "config.yaml", "config.yml", "conftest.py", "performance_utils_pytest.py"};
constexpr std::array<std::string_view, 5> kProtectedSuffixes = {"_test.py", "_test.cpp", "_test.cu",
                                                                "_test.hip", "_harness.py"};

bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.substr(0, directory.size()) == directory &&
         path[directory.size()] == '/';
}

class Rules {
 public:
  Rules(const TreeListing& pristine, const std::vector<std::string>& editable)
      : pristine_(pristine), editable_(editable) {}

  bool is_candidate(std::string_view path) const {
    if (editable_.empty()) return !is_protected_path(path);
    return std::any_of(editable_.begin(), editable_.end(),
                       [path](const std::string& name) { return path == name || is_below(path, name); });
  }

  // A file put where a directory was would take everything below with it, protected files included.
  bool would_replace_directory_of_others(const std::string& path) const {
    for (auto entry = pristine_.lower_bound(path + '/');
         entry != pristine_.end() && is_below(entry->first, path); ++entry) {
      if (!is_candidate(entry->first)) return true;
    }
    return false;
  }

 private:
  const TreeListing& pristine_;
  const std::vector<std::string>& editable_;
};

}  // namespace

// Every component counts, the last too: a file called `tests` would replace the directory.
bool is_protected_path(std::string_view relative) {
  const auto ends_with = [](std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
  };
  const std::vector<std::string> parts = split(relative, "/");
  return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return std::find(kProtectedNames.begin(), kProtectedNames.end(), part) != kProtectedNames.end() ||
           std::any_of(kProtectedSuffixes.begin(), kProtectedSuffixes.end(),
                       [&](std::string_view suffix) { return ends_with(part, suffix); });
  });
}

bool is_ignored_path(std::string_view relative) {
  if (relative == "solution" || is_below(relative, "solution")) return true;
  const std::vector<std::string> parts = split(relative, "/");
  return std::any_of(parts.begin(), parts.end(),
                     [](const std::string& part) { return part == ".git" || part == "__pycache__"; });
}

Takeover plan_takeover(const TreeListing& pristine, const TreeListing& workspace,
                       const std::vector<std::string>& editable,
                       const std::function<bool(const std::string& relative)>& differs) {
  const Rules rules(pristine, editable);
  Takeover plan;
  for (const auto& [path, now] : workspace) {
    const auto found = pristine.find(path);
    const TreeEntry* before = found == pristine.end() ? nullptr : &found->second;
    const bool both_files =
        before != nullptr && before->kind == TreeEntry::Kind::file && now.kind == TreeEntry::Kind::file;
    const bool same =
        both_files ? before->size == now.size && !differs(path)
                   : before != nullptr && before->kind == now.kind && before->link_target == now.link_target;
    if (same) continue;
    const bool taken = now.kind == TreeEntry::Kind::file && rules.is_candidate(path) &&
                       !rules.would_replace_directory_of_others(path);
    (taken ? plan.changed : plan.ignored).push_back(path);
    // What is no regular file is never taken over; where it stands in for a file of the task, that file is
    // gone.
    if (!taken && before != nullptr && now.kind != TreeEntry::Kind::file && rules.is_candidate(path)) {
      plan.removed.push_back(path);
    }
  }
  for (const auto& [path, before] : pristine) {
    if (workspace.count(path) > 0) continue;
    (rules.is_candidate(path) ? plan.removed : plan.ignored).push_back(path);
  }
  std::sort(plan.removed.begin(), plan.removed.end());
  std::sort(plan.ignored.begin(), plan.ignored.end());
  return plan;
}

}  // namespace arena
