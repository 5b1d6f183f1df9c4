#include "worker/changes_patch.h"

#include <fmt/format.h>

#include "os/environment.h"
#include "os/file_system.h"

namespace arena {

namespace {

constexpr std::size_t kMostFiles = 200;
constexpr std::uint64_t kMostBytes = 8 << 20;  // of one file's difference

// diff exits with 1 when there is a difference, with 2 when there was trouble.
Result<std::string> difference(ProcessRunner& runner, const fs::path& before, const fs::path& after,
                               const std::string& path, const fs::path& scratch) {
  RealFileSystem disk;
  ARENA_ASSIGN(const bool was_there, disk.exists(before));
  ARENA_ASSIGN(const bool is_there, disk.exists(after));
  ProcessSpec spec;
  spec.argv = {"diff",
               "-u",
               "--label",
               was_there ? "a/" + path : "/dev/null",
               "--label",
               is_there ? "b/" + path : "/dev/null",
               "--",
               was_there ? before.string() : "/dev/null",
               is_there ? after.string() : "/dev/null"};
  spec.environment = select_environment(current_environment(), basic_environment_names());
  spec.environment["LC_ALL"] = "C";
  spec.working_directory = "/";
  spec.output_file = scratch;
  spec.output_limit = kMostBytes;
  spec.time_limit = std::chrono::seconds(60);
  ARENA_ASSIGN(const ProcessOutcome outcome, runner.run(spec));
  if (std::holds_alternative<Stopped>(outcome.end))
    return fail(ErrorCode::cancelled, "the worker was asked to stop");
  auto text = disk.read(scratch);
  static_cast<void>(disk.remove(scratch));
  const auto* const exited = std::get_if<Exited>(&outcome.end);
  if (exited == nullptr || exited->code > 1 || !text)
    return fmt::format("# {}: diff: {}\n", path, describe(outcome.end));
  return text;
}

}  // namespace

Status write_changes_patch(ProcessRunner& runner, const Takeover& takeover, const fs::path& pristine,
                           const fs::path& candidate, const fs::path& target) {
  std::string patch;
  std::vector<std::string> paths = takeover.changed;
  paths.insert(paths.end(), takeover.removed.begin(), takeover.removed.end());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (i == kMostFiles) {
      patch += fmt::format("# {} more files\n", paths.size() - i);
      break;
    }
    ARENA_ASSIGN(const std::string part, difference(runner, pristine / paths[i], candidate / paths[i],
                                                    paths[i], target.string() + ".part"));
    patch += part;
  }
  for (const std::string& path : takeover.ignored)
    patch += fmt::format("# changed, does not count: {}\n", path);
  RealFileSystem disk;
  return publish(disk, target, patch, Sync::no, Replace::yes);
}

}  // namespace arena
