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
constexpr const char* kAgent = "agent";
constexpr const char* kBaseline = "baseline_perf.yaml";
constexpr const char* kCandidate = "optimized_perf.yaml";
constexpr const char* kResult = "task_result.yaml";

Status clear_name(const DirectoryHandle& workspace, const char* name) {
  if (::unlinkat(workspace.descriptor(), name, 0) == 0 || errno == ENOENT) return {};
  // The descriptor's own path: the workspace may have been moved.
  return remove_tree(fs::path(fmt::format("/proc/self/fd/{}", workspace.descriptor())) / name);
}

Status move_in(const DirectoryHandle& workspace, const fs::path& directory, const char* name) {
  ARENA_TRY(clear_name(workspace, name));
  if (::renameat(AT_FDCWD, directory.c_str(), workspace.descriptor(), name) == 0) return {};
  return fail(error_from_errno(errno, "move", directory.string()));
}

Status publish_cases(const DirectoryHandle& workspace, const char* name,
                     const std::vector<TimedCase>& cases) {
  if (cases.empty()) return {};
  return workspace.publish(name, write_perf_yaml(cases), Sync::no, Replace::yes);
}

}  // namespace

Status publish_results(const DirectoryHandle& workspace, const fs::path& logs, const fs::path& agent,
                       const std::vector<TimedCase>& baseline, const std::vector<TimedCase>& candidate,
                       const std::string& result) {
  // An agent may have taken the permissions away.
  static_cast<void>(::fchmod(workspace.descriptor(), 0755));
  for (const char* name : {kBaseline, kCandidate, kResult}) ARENA_TRY(clear_name(workspace, name));
  ARENA_TRY(move_in(workspace, logs, kLogs));
  boost::system::error_code ignored;
  if (fs::exists(agent, ignored)) ARENA_TRY(move_in(workspace, agent, kAgent));
  ARENA_TRY(publish_cases(workspace, kBaseline, baseline));
  ARENA_TRY(publish_cases(workspace, kCandidate, candidate));
  return workspace.publish(kResult, result, Sync::yes, Replace::yes);
}

}  // namespace arena
