#pragma once
// Where runs live: <workspace root>/<prefix>_<gpu>_<agent>/run_<timestamp>[_suffix]. Creates new ones, finds
// old ones. A created directory is this process's alone: mkdir decides between two coordinators of the same
// second.
#include <optional>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "model/run_config.h"
#include "model/run_record.h"
#include "os/clock.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"

namespace arena {

// <prefix>_<gpu>_<agent template>.
std::string workspace_directory_name(const RunConfig& config);

// Makes the directory (and its parents) and returns its absolute path. Without `run_name` the name comes from
// `now` and `suffix`; when it is taken, from the next free second. A taken `run_name` is ErrorCode::exists.
Result<fs::path> create_run_directory(FileSystem& disk, const fs::path& workspace_root,
                                      const RunConfig& config, const std::string& run_name,
                                      const std::string& suffix, WallTime now);

// The newest record of a run (run.yaml, or the run.<n>.yaml with the highest n) and its number.
struct StoredRecord {
  RunRecord record;
  int number = 1;
};
// invalid_input without any record; corrupt or invalid_input when the newest cannot be read.
Result<StoredRecord> read_newest_record(FileSystem& disk, const QueueLayout& layout);

// Every run_* directory below the workspace root's directories, newest name first; *_heldout is left out.
Result<std::vector<fs::path>> list_runs(FileSystem& disk, const fs::path& workspace_root);

// RUN as the user gave it: the path of a run directory, or a name below the workspace root. Absolute.
Result<fs::path> find_run(FileSystem& disk, const std::string& run, const fs::path& workspace_root);

// The newest run that has a readable record; the broken ones passed over are named in *warnings.
Result<fs::path> find_newest_run(FileSystem& disk, const fs::path& workspace_root,
                                 std::vector<std::string>* warnings);

}  // namespace arena
