#pragma once
// Waits, without a limit of its own, until a launched process has exited, and reaps it.
#include <poll.h>

#include <optional>

#include "os/process.h"

namespace arena {

inline std::optional<ProcessEnd> await_end(const LaunchedProcess& process) {
  pollfd exited{process.pidfd(), POLLIN, 0};
  ::poll(&exited, 1, -1);
  return process.reap();
}

}  // namespace arena
