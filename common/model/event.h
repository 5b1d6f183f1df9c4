#pragma once
// .parallel/events/<writer>.jsonl: the append-only ledger of every attempt, one JSON object a line. A torn
// last line is dropped by readers; everything before it counts.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace arena {

// Kinds are frozen on disk: worker_start, claim, phase, end, requeue, adopt, worker_exit, halt, corrupt,
// config_change.
struct Event {
  std::string time;  // UTC
  std::string kind;
  std::string writer;  // worker id, or "coordinator"
  std::string task;    // task name, may be empty
  std::int64_t attempt = 0;
  std::string phase;  // setup, baseline, agent, evaluation, …
  std::string cause;  // of an end
  std::string message;
  std::map<std::string, std::string> more;
};

std::string write_event(const Event& event);            // one line with its newline
std::vector<Event> read_events(std::string_view text);  // lines that cannot be read are skipped

}  // namespace arena
