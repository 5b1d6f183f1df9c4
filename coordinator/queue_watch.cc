#include "coordinator/queue_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace arena {

namespace {

Result<int> add_watch(int descriptor, const fs::path& directory, std::uint32_t mask) {
  const int watch = ::inotify_add_watch(descriptor, directory.c_str(), mask | IN_ONLYDIR);
  if (watch < 0) return fail(error_from_errno(errno, "watch", directory.string()));
  return watch;
}

}  // namespace

QueueWatch::QueueWatch(QueueWatch&& other) noexcept
    : descriptor_(other.descriptor_),
      states_(std::move(other.states_)),
      events_(other.events_),
      parallel_(other.parallel_) {
  other.descriptor_ = -1;
}

QueueWatch::~QueueWatch() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<QueueWatch> QueueWatch::open(const QueueLayout& layout) {
  QueueWatch watch(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (watch.descriptor_ < 0) return fail(error_from_errno(errno, "watch", layout.parallel().string()));
  for (const QueueState state : kQueueStates) {
    ARENA_ASSIGN(const int id, add_watch(watch.descriptor_, layout.state_directory(state), IN_MOVED_TO));
    watch.states_.emplace_back(id, state);
  }
  ARENA_ASSIGN(watch.events_,
               add_watch(watch.descriptor_, layout.events_directory(), IN_MODIFY | IN_CREATE | IN_MOVED_TO));
  ARENA_ASSIGN(watch.parallel_, add_watch(watch.descriptor_, layout.parallel(), IN_CREATE | IN_MOVED_TO));
  return watch;
}

QueueChanges QueueWatch::take() {
  QueueChanges changes;
  alignas(inotify_event) std::array<char, 1 << 16> buffer;
  for (;;) {
    const ssize_t got = ::read(descriptor_, buffer.data(), buffer.size());
    if (got <= 0) return changes;
    for (ssize_t at = 0; at < got;) {
      inotify_event event;
      std::memcpy(&event, buffer.data() + at, sizeof event);
      const std::string name = event.len > 0 ? std::string(buffer.data() + at + sizeof event) : "";
      at += static_cast<ssize_t>(sizeof event) + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) {
        changes.overflow = true;
      } else if (event.wd == events_) {
        if (name.ends_with(".jsonl")) changes.ledgers.insert(name.substr(0, name.size() - 6));
      } else if (event.wd == parallel_) {
        changes.halt = changes.halt || name == "halt.yaml";
      } else {
        const int watch = event.wd;
        const auto found = std::find_if(states_.begin(), states_.end(),
                                        [watch](const auto& known) { return known.first == watch; });
        const auto entry = parse_entry_name(name);
        if (found != states_.end() && entry) changes.arrived.emplace_back(found->second, *entry);
      }
    }
  }
}

}  // namespace arena
