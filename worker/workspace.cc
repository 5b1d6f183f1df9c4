#include "worker/workspace.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "base/step.h"
#include "base/text.h"
#include "model/task_result.h"

namespace arena {

namespace {

CopyOptions task_copy(const TaskSource& source, Solution solution) {
  CopyOptions options;
  options.dereference_below = source.tasks_directory;
  if (solution == Solution::left_out) {
    options.excluded = [](const std::string& relative) { return relative == "solution"; };
  }
  return options;
}

// A free name for `from` in `directory`: NAME, NAME.2, … Evidence of earlier attempts is never replaced.
Status move_aside(FileSystem& disk, const fs::path& from, const fs::path& directory,
                  const std::string& name) {
  ARENA_TRY(make_directories(disk, directory));
  for (int copy = 1;; ++copy) {
    const fs::path target = directory / (copy == 1 ? name : fmt::format("{}.{}", name, copy));
    Status moved = disk.rename(from, target, Replace::no);
    if (moved || moved.error().code != ErrorCode::exists) return moved;
  }
}

bool holds_completed_result(FileSystem& disk, const fs::path& result_file, const std::string& run_id,
                            const std::string& task_name) {
  const auto text = disk.read(result_file);
  if (!text) return false;
  const auto result = read_task_result(*text, result_file.string());
  return result && result->run_id == run_id && result->task_name == task_name;
}

}  // namespace

Result<std::string> digest_of(const TaskSource& source) {
  return digest_tree(source.directory, task_copy(source, Solution::included));
}

Status copy_pristine(const TaskSource& source, const fs::path& target, Solution solution) {
  ARENA_TRY(copy_tree(source.directory, target, task_copy(source, solution)));
  if (!source.seed) return {};
  const fs::path seeded = target / source.seed->name;
  boost::system::error_code problem;
  if (fs::exists(seeded, problem) && !fs::is_empty(seeded, problem)) return {};
  CopyOptions options;
  options.keep_outside_links = true;
  options.excluded = [&excluded = source.seed->excluded](const std::string& relative) {
    return is_excluded_from_seed(relative, excluded);
  };
  ARENA_TRY(copy_tree(source.seed->from, seeded, options));
  return {};
}

std::string repository_name(const std::string& url) {
  const std::vector<std::string> parts = split(url, "/:");
  std::string name = parts.empty() ? "repository" : parts.back();
  if (name.size() > 4 && name.substr(name.size() - 4) == ".git") name.resize(name.size() - 4);
  return name;
}

bool is_excluded_from_seed(const std::string& relative, const std::vector<std::string>& patterns) {
  const std::string name = relative.substr(relative.rfind('/') + 1);
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    const std::string& subject = contains(pattern, "/") ? relative : name;
    return ::fnmatch(pattern.c_str(), subject.c_str(), 0) == 0;
  });
}

Status archive_workspace(FileSystem& disk, const QueueLayout& layout, const std::string& task_name,
                         const std::string& run_id, std::int64_t attempt) {
  const fs::path workspace = layout.workspace(task_name);
  ARENA_ASSIGN(const bool left_over, disk.exists(workspace));
  if (!left_over) return {};
  const fs::path archive = layout.attempt(task_name, attempt - 1);
  // The candidate first: after a crash in between, the result is still there to say that it was evaluated.
  if (holds_completed_result(disk, layout.task_result(task_name), run_id, task_name)) {
    Status moved = move_aside(disk, layout.candidate(task_name), archive, "candidate");
    if (!moved && moved.error().code != ErrorCode::not_found) return moved;
  }
  ARENA_TRY(move_aside(disk, workspace, archive, "workspace"));
  step("attempt.archived");
  return {};
}

}  // namespace arena
