#include "model/event.h"

#include <doctest/doctest.h>

#include "base/text.h"

namespace arena {

namespace {

Event example() {
  Event event;
  event.time = "2026-06-17T10:15:00Z";
  event.kind = "end";
  event.writer = "0.1";
  event.task = "a/b";
  event.attempt = 2;
  event.phase = "evaluation";
  event.cause = "infra_error";
  event.message = "two\nlines {\"x\"}";
  event.more = {{"log", "/w/x.log"}};
  return event;
}

}  // namespace

TEST_SUITE_BEGIN("event");

TEST_CASE("an event is one line and comes back as it was written") {
  const std::string line = write_event(example());
  CHECK(line.find('\n') == line.size() - 1);
  const std::vector<Event> events = read_events(line + line);
  REQUIRE(events.size() == 2);
  const Event& event = events[1];
  CHECK(event.time == example().time);
  CHECK(event.kind == "end");
  CHECK(event.writer == "0.1");
  CHECK(event.task == "a/b");
  CHECK(event.attempt == 2);
  CHECK(event.phase == "evaluation");
  CHECK(event.cause == "infra_error");
  CHECK(event.message == example().message);
  CHECK(event.more == example().more);
}

TEST_CASE("what is not set is not written, and bytes of any kind do not break the line") {
  Event event;
  event.time = "t";
  event.kind = "halt";
  event.writer = "coordinator";
  CHECK(write_event(event) == "{\"time\":\"t\",\"kind\":\"halt\",\"writer\":\"coordinator\"}\n");
  event.message = std::string("\xFF\0\x1B[1m", 6);
  const auto events = read_events(write_event(event));
  REQUIRE(events.size() == 1);
  CHECK(contains(events[0].message, "[1m"));
}

TEST_CASE("a ledger cut at any byte keeps every whole line and drops the torn one") {
  const std::string line = write_event(example());
  for (std::size_t length = 0; length < line.size(); ++length) {
    CHECK(read_events(line + line.substr(0, length)).size() == 1);
    if (length + 1 < line.size()) CHECK(read_events(line + line.substr(0, length) + "\n" + line).size() == 2);
  }
}

TEST_CASE("lines of another shape are skipped") {
  for (const char* bad :
       {"", "x", "null", "[]", "3", "{}", "{\"time\":1,\"kind\":\"a\",\"writer\":\"w\"}",
        "{\"time\":\"t\",\"kind\":\"a\",\"writer\":\"w\",\"attempt\":\"1\"}",
        "{\"time\":\"t\",\"kind\":\"a\",\"writer\":\"w\",\"attempt\":1e300}",
        "{\"time\":\"t\",\"kind\":\"a\",\"writer\":\"w\",\"attempt\":18446744073709551615}",
        "{\"time\":\"t\",\"kind\":\"a\",\"writer\":\"w\",\"attempt\":-1}",
        "{\"time\":\"t\",\"kind\":\"a\",\"writer\":\"w\",\"more\":[1]}", "{\"time\":\"t\",\"kind\":\"a\"}"}) {
    CAPTURE(bad);
    CHECK(read_events(std::string(bad) + "\n" + write_event(example())).size() == 1);
  }
  CHECK(read_events("{\"time\":\"t\",\"kind\":\"later\",\"writer\":\"w\",\"new\":{}}\n").size() == 1);
}

TEST_SUITE_END();

}  // namespace arena
