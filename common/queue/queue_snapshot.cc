#include "queue/queue_snapshot.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace arena {

namespace {

// pending/ has no prefix, running/ always one; an ended entry may have had no worker.
bool belongs_in(QueueState state, const EntryName& name) {
  if (state == QueueState::pending) return name.worker_id.empty();
  return state != QueueState::running || !name.worker_id.empty();
}

template <class T>
std::vector<T> in_both(std::vector<T> a, std::vector<T> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::vector<T> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

}  // namespace

std::size_t QueueSnapshot::count(QueueState state) const {
  const auto found = entries.find(state);
  return found == entries.end() ? 0 : found->second.size();
}

Result<QueueSnapshot> take_snapshot(FileSystem& disk, const QueueLayout& layout) {
  QueueSnapshot snapshot;
  for (const QueueState state : kQueueStates) {
    ARENA_ASSIGN(const auto names, disk.list(layout.state_directory(state)));
    auto& entries = snapshot.entries[state];
    for (const std::string& name : names) {
      auto entry = parse_entry_name(name);
      if (entry && belongs_in(state, *entry)) {
        entries.push_back(std::move(*entry));
      } else {
        (parse_temporary_entry_name(name) ? snapshot.temporary : snapshot.foreign).emplace_back(state, name);
      }
    }
    std::sort(entries.begin(), entries.end(), [](const EntryName& a, const EntryName& b) {
      return a.index != b.index ? a.index < b.index : a.worker_id < b.worker_id;
    });
  }
  std::sort(snapshot.foreign.begin(), snapshot.foreign.end());
  return snapshot;
}

QueueCheck check_snapshot(const QueueSnapshot& snapshot, const std::vector<std::int64_t>& planned_indexes) {
  std::unordered_map<std::int64_t, int> places;
  for (const auto& [state, entries] : snapshot.entries) {
    for (const EntryName& entry : entries) ++places[entry.index];
  }
  QueueCheck check;
  for (const std::int64_t index : planned_indexes) {
    if (places.count(index) == 0) check.missing.push_back(index);
  }
  std::map<std::int64_t, std::vector<std::string>> several;
  for (const auto& [state, entries] : snapshot.entries) {
    for (const EntryName& entry : entries) {
      if (places[entry.index] == 1) continue;
      several[entry.index].push_back(fmt::format("{}/{}", name_of(state), format_entry_name(entry)));
    }
  }
  for (const auto& [index, names] : several) {
    check.duplicates.push_back(
        fmt::format("task {} is in more than one place: {}", index, fmt::join(names, ", ")));
  }
  return check;
}

Result<QueueCheck> check_queue(FileSystem& disk, const QueueLayout& layout,
                               const std::vector<std::int64_t>& planned_indexes) {
  ARENA_ASSIGN(const QueueSnapshot first, take_snapshot(disk, layout));
  QueueCheck check = check_snapshot(first, planned_indexes);
  if (check.missing.empty() && check.duplicates.empty()) return check;
  ARENA_ASSIGN(const QueueSnapshot second, take_snapshot(disk, layout));
  const QueueCheck again = check_snapshot(second, planned_indexes);
  return QueueCheck{in_both(check.missing, again.missing), in_both(check.duplicates, again.duplicates)};
}

}  // namespace arena
