#pragma once
// Is what lies in done/ really done? A descriptor states the seal of the result it was finished with, and the
// result file ends with its own: two texts to compare, no YAML. Only a mismatch is parsed.
#include <string>
#include <string_view>
#include <vector>

#include "model/run_record.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"
#include "queue/queue_snapshot.h"

namespace arena {

struct UnprovenEntry {
  EntryName name;      // in done/
  std::string reason;  // "its task_result.yaml is missing"
};

// Entries of done/ whose result is missing, damaged or another attempt's. All cores share the reading.
Result<std::vector<UnprovenEntry>> find_unproven(FileSystem& disk, const QueueLayout& layout,
                                                 const QueueSnapshot& snapshot, const RunRecord& record);

// The value of a top-level `key: value` line without parsing the rest, unquoted; empty if there is none.
std::string_view plain_value(std::string_view yaml, std::string_view key);

}  // namespace arena
