#pragma once
// Follows the ledgers of a run: gives each complete line once and reads only what was appended since. A torn
// last line waits for its rest. Reads the real disk; single-threaded.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/path.h"
#include "model/event.h"
#include "queue/queue_layout.h"

namespace arena {

class EventReader {
 public:
  explicit EventReader(QueueLayout layout) : layout_(std::move(layout)) {}
  // New events of one writer; none if there are none or the ledger cannot be read now.
  std::vector<Event> read_new(const std::string& writer);
  // New events of every writer that has a ledger, in the order of their times.
  std::vector<Event> read_all();
  // From now on only what is appended later.
  void skip_to_end();

 private:
  std::vector<std::string> writers() const;
  QueueLayout layout_;
  std::map<std::string, std::int64_t> offsets_;
};

}  // namespace arena
