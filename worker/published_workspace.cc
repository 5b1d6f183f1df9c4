#include "worker/published_workspace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "os/tree.h"

namespace arena {

namespace {

constexpr const char* kLogs = "logs";
constexpr const char* kBaseline = "baseline_perf.yaml";
constexpr const char* kCandidate = "optimized_perf.yaml";
constexpr const char* kResult = "task_result.yaml";

Status clear_name(const DirectoryHandle& workspace, const char* name) {
  if (::unlinkat(workspace.descriptor(), name, 0) == 0 || errno == ENOENT) return {};
  // The descriptor's own path: the workspace may have been moved.
  return remove_tree(fs::path(fmt::format("/proc/self/fd/{}", workspace.descriptor())) / name);
}

Status publish_cases(const DirectoryHandle& workspace, const char* name,
                     const std::vector<TimedCase>& cases) {
  if (cases.empty()) return {};
  return workspace.publish(name, write_perf_yaml(cases), Sync::no, Replace::yes);
}

}  // namespace

Status publish_results(const DirectoryHandle& workspace, const fs::path& logs,
                       const std::vector<TimedCase>& baseline, const std::vector<TimedCase>& candidate,
                       const std::string& result) {
  // An agent may have taken the permissions away.
  static_cast<void>(::fchmod(workspace.descriptor(), 0755));
  for (const char* name : {kLogs, kBaseline, kCandidate, kResult}) ARENA_TRY(clear_name(workspace, name));
  if (::renameat(AT_FDCWD, logs.c_str(), workspace.descriptor(), kLogs) != 0) {
    return fail(error_from_errno(errno, "move", logs.string()));
  }
  ARENA_TRY(publish_cases(workspace, kBaseline, baseline));
  ARENA_TRY(publish_cases(workspace, kCandidate, candidate));
  return workspace.publish(kResult, result, Sync::yes, Replace::yes);
}

}  // namespace arena
