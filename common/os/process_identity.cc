#include <fcntl.h>
#include <poll.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>

#include <fmt/format.h>

#include "base/text.h"
#include "os/process.h"
#include "os/process_table.h"

namespace arena {

namespace {

constexpr std::chrono::seconds kKillPatience{10};

struct Machine {
  std::string host;
  std::string boot_id;
};

Result<Machine> this_machine() {
  struct utsname name {};
  if (::uname(&name) != 0) return fail(error_from_errno(errno, "ask for", "host name"));
  const char* const file = "/proc/sys/kernel/random/boot_id";
  std::string boot_id;
  const int error = read_regular(AT_FDCWD, file, 0, boot_id);
  if (error != 0) return fail(error_from_errno(error, "read", file));
  return Machine{name.nodename, std::string(trim(boot_id))};
}

// "NSpid: 4711 1": one number per PID namespace, outermost first.
bool is_first_of_namespace(pid_t pid) {
  std::string status;
  if (read_regular(AT_FDCWD, fmt::format("/proc/{}/status", pid).c_str(), 0, status) != 0) return false;
  static constexpr std::string_view kKey = "\nNSpid:";
  const std::size_t at = status.find(kKey);
  if (at == std::string::npos) return false;
  const std::size_t begin = at + kKey.size();
  const auto numbers = split(std::string_view(status).substr(begin, status.find('\n', begin) - begin), " \t");
  return numbers.size() > 1 && numbers.back() == "1";
}

bool is_marked(pid_t pid, const std::string& marker) {
  std::string variables;
  if (read_regular(AT_FDCWD, fmt::format("/proc/{}/environ", pid).c_str(), 0, variables) != 0) return false;
  // Framed by NULs, so that neither another name's end nor a longer value fits.
  return contains(std::string(1, '\0') + variables + '\0', std::string(1, '\0') + marker + '\0');
}

}  // namespace

Result<ProcessIdentity> current_process_identity() {
  ARENA_ASSIGN(const Machine machine, this_machine());
  const auto entry = read_process_entry("self");
  if (!entry) return fail(ErrorCode::io, "cannot read '/proc/self/stat': is /proc mounted?");
  return ProcessIdentity{machine.host, machine.boot_id, entry->pid, entry->start_ticks};
}

Result<std::optional<LaunchedProcess>> open_process(const ProcessIdentity& identity) {
  ARENA_ASSIGN(const Machine machine, this_machine());
  if (identity.host != machine.host) {
    return fail(ErrorCode::unsupported, fmt::format("process {} belongs to host '{}', this is '{}'",
                                                    identity.pid, identity.host, machine.host));
  }
  if (identity.boot_id != machine.boot_id || identity.pid <= 0) return std::nullopt;
  if (!shows_our_pids()) {
    return fail(ErrorCode::unsupported, "cannot look for a process: /proc shows another PID namespace");
  }
  Descriptor pidfd = open_pidfd(identity.pid);
  if (!pidfd && errno == ESRCH) return std::nullopt;
  if (!pidfd) return fail(error_from_errno(errno, "watch process", std::to_string(identity.pid)));
  // Read after opening: if the pid still has the old start time, the pidfd is that process.
  const auto entry = read_process_entry(std::to_string(identity.pid));
  if (!entry || entry->start_ticks != identity.start_ticks || has_exited(pidfd.get())) return std::nullopt;
  return LaunchedProcess(identity.pid, pidfd.release(), is_first_of_namespace(identity.pid));
}

Result<int> kill_marked_processes(const std::string& name, const std::string& value) {
  if (!shows_our_pids()) {
    return fail(ErrorCode::unsupported,
                "cannot look for leftover processes: /proc shows another PID namespace");
  }
  const std::string marker = fmt::format("{}={}", name, value);
  const auto deadline = std::chrono::steady_clock::now() + kKillPatience;
  int killed = 0;
  while (true) {
    ARENA_ASSIGN(const std::vector<ProcessEntry> processes, list_processes());
    std::vector<Descriptor> dying;
    for (const ProcessEntry& entry : processes) {
      if (entry.pid == ::getpid() || entry.ended() || !is_marked(entry.pid, marker)) continue;
      Descriptor pidfd = open_pidfd(entry);
      if (!pidfd) continue;
      const int error = send_signal(pidfd.get(), SIGKILL);
      if (error == ESRCH) continue;
      if (error != 0) return fail(error_from_errno(error, "end process", std::to_string(entry.pid)));
      ++killed;
      dying.push_back(std::move(pidfd));
    }
    if (dying.empty()) return killed;
    for (const Descriptor& pidfd : dying) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd wanted{pidfd.get(), POLLIN, 0};
      if (left.count() <= 0 || ::poll(&wanted, 1, static_cast<int>(left.count())) == 0) {
        return fail(ErrorCode::io,
                    fmt::format("cannot end every process with {}: one is still there {} s after SIGKILL",
                                marker, kKillPatience.count()));
      }
    }
  }
}

}  // namespace arena
