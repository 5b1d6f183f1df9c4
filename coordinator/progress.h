#pragma once
// What is known about a run that is under way, put together from ledger events and counts, and its lines for
// a person. No clock, no disk: the same events, counts and times always give the same lines.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/event.h"
#include "os/clock.h"

namespace arena {

struct QueueCounts {
  std::int64_t pending = 0, running = 0, done = 0, failed = 0;
  std::int64_t total() const { return pending + running + done + failed; }
  bool operator==(const QueueCounts&) const = default;
};

// What one worker is at.
struct WorkerActivity {
  std::string task;  // empty: nothing
  std::int64_t attempt = 0;
  std::string phase;
  std::optional<WallTime> task_since;
  std::string log;  // file that grows as the phase prints, relative to the run directory or absolute
};

// Folds events; knows one activity per worker id.
class ActivityBoard {
 public:
  void apply(const Event& event);
  WorkerActivity of(const std::string& worker_id) const;
  void forget(const std::string& worker_id) { activities_.erase(worker_id); }

 private:
  std::map<std::string, WorkerActivity> activities_;
};

struct WorkerLine {
  std::string worker_id;  // slot.n, or the slot alone when none runs
  std::string state;      // "running", "draining", … (supervision.h)
  WorkerActivity activity;
  std::optional<WallTime> last_output;
};

struct ProgressView {
  WallTime now;
  QueueCounts counts;
  std::vector<WorkerLine> workers;
  WallTime started;                  // of this session
  std::int64_t finished_before = 0;  // done and failed when this session started: no evidence for the pace
};

struct Screen {
  int width = 80;
  int height = 24;
  bool color = false;
};

// Time left at the pace of this session; nothing before the first task is finished.
std::optional<std::chrono::seconds> time_left(const ProgressView& view);

// One line per worker and a bar; no line is wider than the screen, never more lines than it is high.
std::vector<std::string> progress_lines(const ProgressView& view, const Screen& screen);

// "cpp2cpp/gelu: baseline" without time; empty for kinds nobody needs to read.
std::string event_line(const Event& event);

}  // namespace arena
