#pragma once
// inotify on the queue of a run: which entries arrived in which state, which ledgers grew, whether the halt
// file appeared. What the kernel drops (overflow) or never sees (another machine on a network file system) is
// made good by listing again.
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "queue/queue_layout.h"

namespace arena {

struct QueueChanges {
  std::vector<std::pair<QueueState, EntryName>> arrived;  // in order
  std::set<std::string> ledgers;                          // writers
  bool halt = false;
  bool overflow = false;  // list and read everything again
  bool empty() const { return arrived.empty() && ledgers.empty() && !halt && !overflow; }
};

class QueueWatch {
 public:
  static Result<QueueWatch> open(const QueueLayout& layout);
  QueueWatch(QueueWatch&& other) noexcept;
  QueueWatch& operator=(QueueWatch&& other) = delete;
  ~QueueWatch();
  int descriptor() const { return descriptor_; }  // readable when there is something to take
  QueueChanges take();                            // never blocks

 private:
  explicit QueueWatch(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
  std::vector<std::pair<int, QueueState>> states_;  // watch -> directory
  int events_ = -1;
  int parallel_ = -1;
};

}  // namespace arena
