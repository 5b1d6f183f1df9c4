#include "coordinator/progress.h"

#include <fmt/format.h>
#include <algorithm>
#include <ctime>

#include "base/text.h"

namespace arena {

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kGreen = "\x1b[32m", kRed = "\x1b[31m", kDim = "\x1b[2m", kPlain = "\x1b[0m";
constexpr int kBarWidth = 20;

std::string shortened(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  if (width <= 2) return text.substr(0, width);
  return text.substr(0, width - 2) + "..";
}

// Whole seconds: a display that is redrawn each second should not flicker in tenths.
std::string whole(seconds time) {
  return time < seconds{60} ? fmt::format("{} s", time.count()) : format_duration(time);
}

std::string since(const std::optional<WallTime>& start, WallTime now) {
  if (!start) return "";
  return whole(std::max(seconds{0}, duration_cast<seconds>(now - *start)));
}

std::string painted(const std::string& text, std::string_view color, bool enabled) {
  return enabled ? fmt::format("{}{}{}", color, text, kPlain) : text;
}

std::string worker_line(const WorkerLine& worker, WallTime now, const Screen& screen) {
  const std::size_t width = static_cast<std::size_t>(std::max(1, screen.width));
  const std::string id = fmt::format("{:<6}", worker.worker_id);
  if (worker.activity.task.empty())
    return painted(shortened(id + " " + worker.state, width), kDim, screen.color);
  std::string rest =
      fmt::format("  {:<10} {:>9}", worker.activity.phase, since(worker.activity.task_since, now));
  if (worker.last_output) rest += fmt::format("  output {} ago", since(worker.last_output, now));
  if (worker.state == "draining" || worker.state == "stopping") rest += "  " + worker.state;
  // The name of the task gives way first, then the end of the line.
  const std::size_t fixed = id.size() + 1 + rest.size();
  const std::size_t room = width > fixed + 12 ? width - fixed : 12;
  const std::string task = shortened(worker.activity.task, std::min<std::size_t>(room, 44));
  return shortened(fmt::format("{} {:<{}}{}", id, task, std::min<std::size_t>(room, 44), rest), width);
}

std::string bar_line(const ProgressView& view, const Screen& screen) {
  const QueueCounts& counts = view.counts;
  const std::int64_t total = counts.total();
  const std::int64_t finished = counts.done + counts.failed;
  const std::int64_t filled = total == 0 ? 0 : finished * kBarWidth / total;
  const std::string bar = fmt::format("[{}{}]", std::string(static_cast<std::size_t>(filled), '#'),
                                      std::string(static_cast<std::size_t>(kBarWidth - filled), '.'));
  const std::string done = fmt::format("{} done", counts.done),
                    failed = fmt::format("{} failed", counts.failed);
  std::string tail = fmt::format("{} left of {}", total - finished, total);
  if (const auto left = time_left(view); left && total > finished)
    tail += fmt::format(", about {} to go", whole(*left));
  const std::string plain = fmt::format("{} {}, {}, {}", bar, done, failed, tail);
  if (plain.size() > static_cast<std::size_t>(screen.width))
    return shortened(plain, static_cast<std::size_t>(screen.width));
  return fmt::format("{} {}, {}, {}", bar, painted(done, kGreen, screen.color && counts.done > 0),
                     painted(failed, kRed, screen.color && counts.failed > 0), tail);
}

}  // namespace

void ActivityBoard::apply(const Event& event) {
  WorkerActivity& activity = activities_[event.writer];
  if (event.kind == "claim") {
    activity = {event.task, event.attempt, "claimed", parse_utc(event.time), ""};
  } else if (event.kind == "phase") {
    activity.task = event.task;
    activity.attempt = event.attempt;
    activity.phase = event.phase;
    if (!activity.task_since) activity.task_since = parse_utc(event.time);
    const auto log = event.more.find("log");
    activity.log = log == event.more.end() ? "" : log->second;
  } else if (event.kind == "end" || event.kind == "requeue" || event.kind == "worker_exit") {
    activity = {};
  }
}

WorkerActivity ActivityBoard::of(const std::string& worker_id) const {
  const auto found = activities_.find(worker_id);
  return found == activities_.end() ? WorkerActivity{} : found->second;
}

std::optional<seconds> time_left(const ProgressView& view) {
  const std::int64_t finished = view.counts.done + view.counts.failed - view.finished_before;
  if (finished <= 0 || view.now <= view.started) return std::nullopt;
  const auto passed = duration_cast<milliseconds>(view.now - view.started);
  const std::int64_t left = view.counts.pending + view.counts.running;
  return duration_cast<seconds>(passed * left / finished);
}

std::vector<std::string> progress_lines(const ProgressView& view, const Screen& screen) {
  std::vector<std::string> lines;
  // The bar and the line the cursor stands on need their place too.
  const std::size_t room = static_cast<std::size_t>(std::max(1, screen.height - 2));
  const bool fits = view.workers.size() <= room;
  const std::size_t shown = fits ? view.workers.size() : room - 1;
  for (std::size_t i = 0; i < shown; ++i) lines.push_back(worker_line(view.workers[i], view.now, screen));
  if (!fits)
    lines.push_back(shortened(fmt::format("and {} more workers", view.workers.size() - shown),
                              static_cast<std::size_t>(std::max(1, screen.width))));
  lines.push_back(bar_line(view, screen));
  return lines;
}

std::string event_line(const Event& event) {
  const std::string about = event.message.empty() ? "" : ": " + event.message;
  if (event.kind == "claim")
    return fmt::format("{}: attempt {}, worker {}", event.task, event.attempt, event.writer);
  if (event.kind == "phase") return fmt::format("{}: {}", event.task, event.phase);
  if (event.kind == "end") return fmt::format("{}: {}{}", event.task, event.cause, about);
  if (event.kind == "requeue") return fmt::format("{}: back to pending{}", event.task, about);
  if (event.kind == "corrupt") return fmt::format("{}: set aside{}", event.task, about);
  if (event.kind == "halt") return fmt::format("no further claims{}", about);
  // Every worker's end is told by the coordinator, which knows how it ended; a worker tells of its own only
  // sometimes.
  const auto worker = event.more.find("worker");
  if (event.kind == "worker_exit" && worker == event.more.end()) return "";
  const std::string& who = worker == event.more.end() ? event.writer : worker->second;
  if (event.kind == "worker_start") return fmt::format("worker {}: started{}", who, about);
  if (event.kind == "worker_exit") return fmt::format("worker {}: ended{}", who, about);
  if (event.kind == "adopt") return fmt::format("worker {}: adopted{}", who, about);
  return "";
}

}  // namespace arena
