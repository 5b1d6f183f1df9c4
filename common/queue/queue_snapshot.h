#pragma once
// What a listing of the four state directories shows, and whether every planned task is in exactly one of
// them.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "os/file_system.h"
#include "queue/queue_layout.h"

namespace arena {

struct QueueSnapshot {
  std::map<QueueState, std::vector<EntryName>> entries;       // each sorted by index
  std::vector<std::pair<QueueState, std::string>> foreign;    // names that are not ours, or not in this state
  std::vector<std::pair<QueueState, std::string>> temporary;  // being written, or left by a crash
  std::size_t count(QueueState state) const;
};

// Four listings one after the other, in the order in which entries move. While workers live it is no instant:
// an entry that moves meanwhile is seen twice, one that is handed back perhaps not at all.
Result<QueueSnapshot> take_snapshot(FileSystem& disk, const QueueLayout& layout);

struct QueueCheck {
  std::vector<std::int64_t> missing;    // planned, in no state: to be regenerated (queue_builder.h)
  std::vector<std::string> duplicates;  // in more than one place: named, never resolved silently
};
QueueCheck check_snapshot(const QueueSnapshot& snapshot, const std::vector<std::int64_t>& planned_indexes);

// The check for a queue that may be in use: what looks wrong counts only when a second snapshot shows just
// the same.
Result<QueueCheck> check_queue(FileSystem& disk, const QueueLayout& layout,
                               const std::vector<std::int64_t>& planned_indexes);

}  // namespace arena
