#include <doctest/doctest.h>

#include "coordinator/progress.h"

namespace arena {

namespace {

const WallTime kNow = *parse_utc("2026-12-01T10:15:30.000Z");

Event event_of(const std::string& kind, const std::string& phase = "", const std::string& log = "") {
  Event event;
  event.time = "2026-12-01T10:15:00.000Z";
  event.kind = kind;
  event.writer = "0.1";
  event.task = "cpp2cpp/gelu";
  event.attempt = 1;
  event.phase = phase;
  if (!log.empty()) event.more["log"] = log;
  return event;
}

ProgressView view_of(std::size_t workers) {
  ActivityBoard board;
  board.apply(event_of("claim"));
  board.apply(event_of("phase", "evaluation", "x.log"));
  ProgressView view;
  view.now = kNow;
  view.started = kNow - std::chrono::seconds(100);
  view.counts = {5, 1, 3, 1};
  view.finished_before = 2;
  for (std::size_t i = 0; i < workers; ++i)
    view.workers.push_back({"0.1", "running", board.of("0.1"), kNow - std::chrono::seconds(3)});
  return view;
}

}  // namespace

TEST_CASE("a worker's activity follows its events from claim to end") {
  ActivityBoard board;
  CHECK(board.of("0.1").task.empty());
  board.apply(event_of("claim"));
  CHECK(board.of("0.1").task == "cpp2cpp/gelu");
  CHECK(board.of("0.1").task_since == kNow - std::chrono::seconds(30));
  board.apply(event_of("phase", "agent", "logs/agent.log"));
  CHECK(board.of("0.1").phase == "agent");
  CHECK(board.of("0.1").log == "logs/agent.log");
  CHECK(board.of("1.1").task.empty());
  board.apply(event_of("end"));
  CHECK(board.of("0.1").task.empty());
}

TEST_CASE("the display has a line per worker and a bar with counts and time left") {
  const auto lines = progress_lines(view_of(1), {100, 24, false});
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] ==
        "0.1    cpp2cpp/gelu                                  evaluation      30 s  output 3 s ago");
  CHECK(lines[1] == "[########............] 3 done, 1 failed, 6 left of 10, about 5 min 00 s to go");
}

TEST_CASE("no line is wider than the screen and there are never more lines than it is high") {
  for (int width = 1; width <= 120; ++width) {
    for (const int height : {1, 2, 3, 5, 24}) {
      const auto lines = progress_lines(view_of(10), {width, height, false});
      CHECK(lines.size() <= static_cast<std::size_t>(std::max(2, height - 1)));
      for (const std::string& line : lines) CHECK(line.size() <= static_cast<std::size_t>(width));
    }
  }
}

TEST_CASE("colors add escape sequences and change no word") {
  auto plain = progress_lines(view_of(1), {100, 24, false}).back();
  auto colored = progress_lines(view_of(1), {100, 24, true}).back();
  CHECK(colored.find("\x1b[31m1 failed\x1b[0m") != std::string::npos);
  for (std::size_t at; (at = colored.find('\x1b')) != std::string::npos;)
    colored.erase(at, colored.find('m', at) - at + 1);
  CHECK(colored == plain);
}

TEST_CASE("there is no estimate before the first task of this session is finished") {
  ProgressView view = view_of(0);
  view.finished_before = 4;
  CHECK(!time_left(view));
}

TEST_CASE("times of events are read exactly as they are written") {
  CHECK(format_utc(*parse_utc("2026-12-01T10:15:00.123Z")) == "2026-12-01T10:15:00.123Z");
  for (const char* bad : {"", "2026-12-01T10:15:00Z", "2026-12-01 10:15:00.123Z", "2026-1x-01T10:15:00.123Z"})
    CHECK(!parse_utc(bad));
}

}  // namespace arena
