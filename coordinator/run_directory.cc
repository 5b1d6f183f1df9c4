#include "coordinator/run_directory.h"

#include <fmt/format.h>
#include <algorithm>

#include "base/text.h"

namespace arena {

namespace {

constexpr int kSecondsTried = 60;

bool is_run_name(const std::string& name) { return run_timestamp_of(name) && !name.ends_with("_heldout"); }

bool is_folder(const fs::path& path) {
  boost::system::error_code ignored;
  return fs::is_directory(path, ignored);
}

Result<fs::path> absolute_path(const fs::path& path) {
  boost::system::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path), error);
  if (error)
    return fail(ErrorCode::io, fmt::format("cannot resolve '{}': {}", path.string(), error.message()));
  return whole;
}

Result<fs::path> make_named(FileSystem& disk, const fs::path& parent, const std::string& name) {
  const fs::path directory = parent / name;
  ARENA_TRY(disk.make_directory(directory));
  // What a worker syncs later lies below names that are on the disk as well.
  ARENA_TRY(disk.sync_directory(parent));
  ARENA_TRY(disk.sync_directory(parent.parent_path()));
  return directory;
}

// Number of a record's file name: run.yaml is 1, run.<n>.yaml n.
std::optional<int> record_number(const std::string& name) {
  if (name == "run.yaml") return 1;
  if (!name.starts_with("run.") || !name.ends_with(".yaml") || name.size() <= 9) return std::nullopt;
  const auto number = parse_integer(std::string_view(name).substr(4, name.size() - 9));
  if (!number || *number < 2 || *number > 1000000) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

std::string workspace_directory_name(const RunConfig& config) {
  return fmt::format("{}_{}_{}", config.workspace_directory_prefix, config.target_gpu_model,
                     config.agent.template_name);
}

Result<fs::path> create_run_directory(FileSystem& disk, const fs::path& workspace_root,
                                      const RunConfig& config, const std::string& run_name,
                                      const std::string& suffix, WallTime now) {
  ARENA_ASSIGN(const fs::path root, absolute_path(workspace_root));
  const fs::path parent = root / workspace_directory_name(config);
  ARENA_TRY(make_directories(disk, parent));
  if (!run_name.empty()) return make_named(disk, parent, run_name);
  for (int second = 0; second < kSecondsTried; ++second) {
    const std::string stamp = format_run_timestamp(now + std::chrono::seconds(second));
    // Timestamps name logs and workspaces too, so a run that differs only in its suffix counts as taken only
    // by name.
    auto made = make_named(disk, parent, fmt::format("run_{}{}{}", stamp, suffix.empty() ? "" : "_", suffix));
    if (made || made.error().code != ErrorCode::exists) return made;
  }
  return fail(ErrorCode::exists,
              fmt::format("cannot create a run directory in '{}': the names of the next {} s are taken",
                          parent.string(), kSecondsTried));
}

Result<StoredRecord> read_newest_record(FileSystem& disk, const QueueLayout& layout) {
  ARENA_ASSIGN(const std::vector<std::string> names, disk.list(layout.run_directory()));
  int newest = 0;
  for (const std::string& name : names) newest = std::max(newest, record_number(name).value_or(0));
  if (newest == 0) {
    return fail(ErrorCode::invalid_input,
                fmt::format("'{}' has no run.yaml: it is no run of arena, or its coordinator died before "
                            "anything was planned",
                            layout.run_directory().string()));
  }
  const fs::path file = layout.run_record(newest);
  ARENA_ASSIGN(const std::string text, disk.read(file));
  ARENA_ASSIGN(RunRecord record, read_run_record(text, file.string()));
  return StoredRecord{std::move(record), newest};
}

Result<std::vector<fs::path>> list_runs(FileSystem& disk, const fs::path& workspace_root) {
  ARENA_ASSIGN(const fs::path root, absolute_path(workspace_root));
  ARENA_ASSIGN(const std::vector<std::string> parents, disk.list(root));
  std::vector<fs::path> runs;
  for (const std::string& parent : parents) {
    // Other folders of the user may lie here too: what cannot be listed holds no run of ours.
    if (!is_folder(root / parent)) continue;
    const auto names = disk.list(root / parent);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (is_run_name(name) && is_folder(root / parent / name)) runs.push_back(root / parent / name);
    }
  }
  std::sort(runs.begin(), runs.end(), [](const fs::path& a, const fs::path& b) {
    const std::string left = a.filename().string(), right = b.filename().string();
    return left != right ? left > right : a < b;
  });
  return runs;
}

Result<fs::path> find_run(FileSystem& disk, const std::string& run, const fs::path& workspace_root) {
  if (is_folder(run)) {
    ARENA_ASSIGN(fs::path directory, absolute_path(run));
    if (run_timestamp_of(directory.filename().string())) return directory;
    return fail(ErrorCode::invalid_input,
                fmt::format("'{}' is no run directory: its name is not run_YYYYmmdd_HHMMSS[_suffix]", run));
  }
  if (run.find('/') != std::string::npos)
    return fail(ErrorCode::invalid_input, fmt::format("there is no run directory '{}'", run));
  if (!run_timestamp_of(run)) {
    return fail(ErrorCode::invalid_input,
                fmt::format("there is no run '{}': runs are named run_YYYYmmdd_HHMMSS[_suffix]", run));
  }
  ARENA_ASSIGN(const fs::path root, absolute_path(workspace_root));
  std::vector<fs::path> found;
  ARENA_ASSIGN(const std::vector<std::string> parents, disk.list(root));
  for (const std::string& parent : parents) {
    if (is_folder(root / parent / run)) found.push_back(root / parent / run);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return fail(ErrorCode::invalid_input, fmt::format("there is no run '{}' below '{}'", run, root.string()));
  }
  std::sort(found.begin(), found.end());
  return fail(ErrorCode::invalid_input,
              fmt::format("'{}' is the name of several runs, give a path: {} and {}", run, found[0].string(),
                          found[1].string()));
}

Result<fs::path> find_newest_run(FileSystem& disk, const fs::path& workspace_root,
                                 std::vector<std::string>* warnings) {
  ARENA_ASSIGN(const std::vector<fs::path> runs, list_runs(disk, workspace_root));
  for (const fs::path& run : runs) {
    const auto record = read_newest_record(disk, QueueLayout(run));
    if (record) return run;
    if (warnings != nullptr)
      warnings->push_back(fmt::format("passed over a broken run: {}", record.error().message));
  }
  ARENA_ASSIGN(const fs::path root, absolute_path(workspace_root));
  return fail(ErrorCode::invalid_input,
              fmt::format("there is no {}run below '{}'", runs.empty() ? "" : "readable ", root.string()));
}

}  // namespace arena
