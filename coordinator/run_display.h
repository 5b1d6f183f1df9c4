#pragma once
// Turns what the queue shows (arrivals, ledger events) into counts, activities, console lines, log lines and
// the display. Memory does not grow with events; one small state per task.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/console.h"
#include "coordinator/event_reader.h"
#include "coordinator/progress.h"
#include "coordinator/queue_watch.h"
#include "coordinator/run_log.h"
#include "os/clock.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"
#include "queue/queue_snapshot.h"

namespace arena {

class RunDisplay {
 public:
  // Events that are in the ledgers already are history and not shown again.
  RunDisplay(const QueueLayout& layout, const QueueSnapshot& snapshot, Clock& clock, Console& console,
             RunLog& log, bool json);

  // A worker that was at work before: reads its ledger for what it is at.
  void follow(const std::string& worker_id);
  void worker_left(const std::string& worker_id) { board_.forget(worker_id); }
  // Folds the changes in, prints and logs the new events, and returns them.
  std::vector<Event> absorb(const QueueChanges& changes, FileSystem& disk);
  // Counted on disk: the number that decides about starting workers.
  std::size_t count_pending(FileSystem& disk);
  const QueueCounts& counts() const { return counts_; }
  std::int64_t new_failures() const { return counts_.failed - at_start_.failed; }
  // Completes the lines with activities and draws them above the bar.
  void draw(std::vector<WorkerLine> workers);

 private:
  void take(const QueueSnapshot& snapshot);
  void move(std::int64_t index, QueueState state);
  std::int64_t& count_of(QueueState state);
  void show(const Event& event);

  QueueLayout layout_;
  Clock& clock_;
  Console& console_;
  RunLog& log_;
  bool json_;
  EventReader reader_;
  ActivityBoard board_;
  std::vector<std::optional<QueueState>> states_;  // by index
  QueueCounts counts_;
  QueueCounts at_start_;
  WallTime started_;
  SteadyTime last_drawn_{};
};

// Counts of a listing, for those who only look once.
QueueCounts counts_of(const QueueSnapshot& snapshot);
// When a file last grew; nothing if it is not there.
std::optional<WallTime> modification_time(const fs::path& file);
// Last line of a log that is not blank, for messages; "no output" if there is none.
std::string last_line(const fs::path& file);

}  // namespace arena
