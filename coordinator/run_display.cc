#include "coordinator/run_display.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/text.h"

namespace arena {

namespace {
constexpr std::chrono::milliseconds kLeastRedraw{100};
}  // namespace

RunDisplay::RunDisplay(const QueueLayout& layout, const QueueSnapshot& snapshot, Clock& clock,
                       Console& console, RunLog& log, bool json)
    : layout_(layout),
      clock_(clock),
      console_(console),
      log_(log),
      json_(json),
      reader_(layout),
      started_(clock.now()) {
  take(snapshot);
  at_start_ = counts_;
  reader_.skip_to_end();
}

void RunDisplay::follow(const std::string& worker_id) {
  EventReader whole(layout_);
  for (const Event& event : whole.read_new(worker_id)) board_.apply(event);
}

std::vector<Event> RunDisplay::absorb(const QueueChanges& changes, FileSystem& disk) {
  for (const auto& [state, entry] : changes.arrived) move(entry.index, state);
  std::vector<Event> events;
  if (changes.overflow) {
    if (const auto snapshot = take_snapshot(disk, layout_)) take(*snapshot);
    events = reader_.read_all();
  } else {
    for (const std::string& writer : changes.ledgers) {
      for (Event& event : reader_.read_new(writer)) events.push_back(std::move(event));
    }
  }
  for (const Event& event : events) {
    // A phase has an event for each of its commands; people want to read of it once.
    const WorkerActivity before = board_.of(event.writer);
    const bool known = event.kind == "phase" && before.task == event.task && before.phase == event.phase;
    board_.apply(event);
    if (!known || json_) show(event);
  }
  return events;
}

void RunDisplay::show(const Event& event) {
  const std::string text = event_line(event);
  if (text.empty()) return;
  log_.info(text);
  if (json_) return console_.result(write_event(event));
  // On a terminal the display tells the rest.
  const bool is_failure = event.kind == "end" && event.cause != "completed";
  if (is_failure || !console_.is_terminal()) console_.line(text);
}

std::size_t RunDisplay::count_pending(FileSystem& disk) {
  const auto names = disk.list(layout_.state_directory(QueueState::pending));
  if (!names) return 0;
  return static_cast<std::size_t>(std::count_if(names->begin(), names->end(), [](const std::string& name) {
    return parse_entry_name(name).has_value();
  }));
}

void RunDisplay::take(const QueueSnapshot& snapshot) {
  states_.clear();
  counts_ = {};
  for (const auto& [state, entries] : snapshot.entries) {
    for (const EntryName& entry : entries) move(entry.index, state);
  }
}

std::int64_t& RunDisplay::count_of(QueueState state) {
  switch (state) {
    case QueueState::pending:
      return counts_.pending;
    case QueueState::running:
      return counts_.running;
    case QueueState::done:
      return counts_.done;
    case QueueState::failed:
      return counts_.failed;
  }
  ARENA_ASSERT(false);
}

void RunDisplay::move(std::int64_t index, QueueState state) {
  if (index < 0 || index > 100'000'000) return;  // no name of ours
  const std::size_t at = static_cast<std::size_t>(index);
  if (at >= states_.size()) states_.resize(at + 1);
  if (states_[at]) --count_of(*states_[at]);
  states_[at] = state;
  ++count_of(state);
}

void RunDisplay::draw(std::vector<WorkerLine> workers) {
  if (!console_.is_terminal() || json_) return;
  const SteadyTime now = clock_.steady_now();
  if (now - last_drawn_ < kLeastRedraw) return;  // the next tick shows it
  last_drawn_ = now;
  ProgressView view{clock_.now(), counts_, std::move(workers), started_, at_start_.done + at_start_.failed};
  for (WorkerLine& worker : view.workers) {
    worker.activity = board_.of(worker.worker_id);
    if (!worker.activity.log.empty()) {
      worker.last_output = modification_time(fs::absolute(worker.activity.log, layout_.run_directory()));
    }
  }
  console_.draw(progress_lines(view, {console_.width(), console_.height(), console_.color()}));
}

QueueCounts counts_of(const QueueSnapshot& snapshot) {
  const auto count = [&](QueueState state) { return static_cast<std::int64_t>(snapshot.count(state)); };
  return {count(QueueState::pending), count(QueueState::running), count(QueueState::done),
          count(QueueState::failed)};
}

std::optional<WallTime> modification_time(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return std::nullopt;
  return std::chrono::system_clock::from_time_t(status.st_mtim.tv_sec) +
         std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds(status.st_mtim.tv_nsec));
}

std::string last_line(const fs::path& file) {
  RealFileSystem disk;
  const auto text = disk.read(file);
  if (!text) return "no output";
  const std::string_view whole = trim(*text);
  if (whole.empty()) return "no output";
  const std::size_t newline = whole.rfind('\n');
  return to_printable_utf8(newline == std::string_view::npos ? whole : whole.substr(newline + 1));
}

}  // namespace arena
