#pragma once
// What /proc says about processes, for the files of this directory only. It may show another PID namespace
// than ours (a worker that is PID 1 of a new one keeps the host's /proc): ask shows_our_pids() before
// trusting a number.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "os/descriptor.h"

namespace arena {

struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = '?';
  std::uint64_t start_ticks = 0;
  std::string name;
  bool ended() const { return state == 'Z' || state == 'X'; }
};

std::optional<ProcessEntry> parse_process_entry(std::string_view stat);  // the text of /proc/<pid>/stat
std::optional<ProcessEntry> read_process_entry(const std::string& pid);  // a number or "self"
Result<std::vector<ProcessEntry>> list_processes();
// Every descendant of the calling process, parents before their children, zombies included.
Result<std::vector<ProcessEntry>> list_descendants();
bool shows_our_pids();

Descriptor open_pidfd(pid_t pid);
int send_signal(int pidfd, int signal);  // 0 or errno
bool has_exited(int pidfd);              // does not wait
// Of exactly the process in `entry`, not of a later one with its pid; empty if it is gone.
Descriptor open_pidfd(const ProcessEntry& entry);

}  // namespace arena
