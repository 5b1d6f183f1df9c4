#include "os/process_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"

namespace arena {

std::optional<ProcessEntry> parse_process_entry(std::string_view stat) {
  // The name stands in parentheses and may hold blanks and parentheses itself: only the last one ends it.
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  const std::vector<std::string> fields = split(stat.substr(close + 1), " \n");  // from field 3, the state
  if (fields.size() < 20) return std::nullopt;
  const auto pid = parse_integer(trim(stat.substr(0, open)));
  const auto parent = parse_integer(fields[1]);
  const auto group = parse_integer(fields[2]);
  const auto start_ticks = parse_integer(fields[19]);
  if (!pid || !parent || !group || !start_ticks) return std::nullopt;
  ProcessEntry entry;
  entry.pid = static_cast<pid_t>(*pid);
  entry.parent = static_cast<pid_t>(*parent);
  entry.group = static_cast<pid_t>(*group);
  entry.state = fields[0][0];
  entry.start_ticks = static_cast<std::uint64_t>(*start_ticks);
  entry.name = std::string(stat.substr(open + 1, close - open - 1));
  return entry;
}

std::optional<ProcessEntry> read_process_entry(const std::string& pid) {
  std::string text;
  if (read_regular(AT_FDCWD, fmt::format("/proc/{}/stat", pid).c_str(), 0, text) != 0) return std::nullopt;
  return parse_process_entry(text);
}

Result<std::vector<ProcessEntry>> list_processes() {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) return fail(error_from_errno(errno, "list", "/proc"));
  std::vector<ProcessEntry> processes;
  while (const dirent* const item = ::readdir(proc.get())) {
    if (item->d_name[0] < '0' || item->d_name[0] > '9') continue;
    if (auto entry = read_process_entry(item->d_name)) processes.push_back(std::move(*entry));
  }
  return processes;
}

Result<std::vector<ProcessEntry>> list_descendants() {
  ARENA_ASSIGN(const std::vector<ProcessEntry> processes, list_processes());
  std::multimap<pid_t, const ProcessEntry*> by_parent;
  for (const ProcessEntry& entry : processes) by_parent.emplace(entry.parent, &entry);
  std::vector<ProcessEntry> found;
  const auto add_children_of = [&](pid_t parent) {
    const auto [first, last] = by_parent.equal_range(parent);
    for (auto child = first; child != last; ++child) found.push_back(*child->second);
    by_parent.erase(first, last);  // a pid that changed hands while we read cannot make a circle
  };
  add_children_of(::getpid());
  for (std::size_t next = 0; next < found.size(); ++next) add_children_of(found[next].pid);
  return found;
}

bool shows_our_pids() {
  char target[32] = {};
  const ssize_t size = ::readlink("/proc/self", target, sizeof target - 1);
  return size > 0 && parse_integer({target, static_cast<std::size_t>(size)}) == ::getpid();
}

Descriptor open_pidfd(pid_t pid) { return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

int send_signal(int pidfd, int signal) {
  return ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) == 0 ? 0 : errno;
}

bool has_exited(int pidfd) {
  pollfd wanted{pidfd, POLLIN, 0};
  return ::poll(&wanted, 1, 0) == 1;
}

Descriptor open_pidfd(const ProcessEntry& entry) {
  Descriptor pidfd = open_pidfd(entry.pid);
  if (!pidfd) return pidfd;
  // The pidfd is open, so if the process of this pid is still the old one now, it was so when we opened it.
  const auto now = read_process_entry(std::to_string(entry.pid));
  return now && now->start_ticks == entry.start_ticks ? std::move(pidfd) : Descriptor();
}

}  // namespace arena
