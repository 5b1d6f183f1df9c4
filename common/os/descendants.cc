#include "os/descendants.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include <fmt/format.h>

#include "os/process_table.h"

namespace arena {

namespace {

constexpr std::chrono::seconds kKillPatience{10};

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD;
}

// Descendants without the spared and what is below them. Without a usable /proc: none, and the proof fails
// loudly.
std::vector<ProcessEntry> descendants_except(const std::set<pid_t>& spared) {
  if (!shows_our_pids()) return {};
  auto found = list_descendants();
  if (!found) return {};
  std::set<pid_t> left_out = spared;
  std::erase_if(*found, [&left_out](const ProcessEntry& entry) {  // parents come before their children
    if (!left_out.contains(entry.pid) && !left_out.contains(entry.parent)) return false;
    left_out.insert(entry.pid);
    return true;
  });
  return std::move(*found);
}

// Whether it was there to be reaped and had been killed with SIGKILL.
bool reap_killed(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | __WALL) == 0 &&
         info.si_pid == pid && info.si_code == CLD_KILLED && info.si_status == SIGKILL;
}

}  // namespace

std::set<pid_t> Descendants::children_now() {
  std::set<pid_t> children;
  if (!has_children()) return children;
  for (const ProcessEntry& entry : descendants_except({})) {
    if (entry.parent == ::getpid()) children.insert(entry.pid);
  }
  return children;
}

void Descendants::signal(int signal_number, pid_t group) const {
  if (mode_ == ReapMode::pid_namespace && spared_.empty()) {
    // One call for the whole namespace, which nothing can fork its way out of, and no need of /proc.
    ARENA_ASSERT(::getpid() == 1);
    ::kill(-1, signal_number);
    return;
  }
  if (group != 0) ::kill(-group, signal_number);
  for (const ProcessEntry& entry : descendants_except(spared_)) {
    if (entry.ended() || (group != 0 && entry.group == group)) continue;
    if (const Descriptor pidfd = open_pidfd(entry)) send_signal(pidfd.get(), signal_number);
  }
}

bool Descendants::any_left() const {
  if (!has_children()) return false;
  return spared_.empty() || !descendants_except(spared_).empty();
}

int Descendants::reap(pid_t tracked) const {
  int killed = 0;
  if (spared_.empty()) {
    siginfo_t info{};
    // Look first, then reap by pid: a wait for anyone would swallow the status of the tracked child.
    while (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 && info.si_pid != 0 &&
           info.si_pid != tracked) {
      killed += reap_killed(info.si_pid) ? 1 : 0;
      info = {};
    }
    return killed;
  }
  for (const ProcessEntry& entry : descendants_except(spared_)) {
    if (entry.ended() && entry.parent == ::getpid() && entry.pid != tracked)
      killed += reap_killed(entry.pid) ? 1 : 0;
  }
  return killed;
}

Result<int> Descendants::end() const {
  const auto deadline = std::chrono::steady_clock::now() + kKillPatience;
  auto pause = std::chrono::microseconds(50);
  int killed = reap(0);
  while (any_left()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return fail(ErrorCode::io, fmt::format("cannot end {}: still there {} s after SIGKILL", name_one_left(),
                                             kKillPatience.count()));
    }
    signal(SIGKILL, 0);
    std::this_thread::sleep_for(
        pause);  // dying takes the kernel a moment; who is orphaned meanwhile comes next round
    pause = std::min(2 * pause, std::chrono::microseconds(20'000));
    killed += reap(0);
  }
  return killed;
}

std::string Descendants::name_one_left() const {
  const std::vector<ProcessEntry> left = descendants_except(spared_);
  if (left.empty()) return "a child process";
  return fmt::format("process {} ({}, state {})", left.front().pid, left.front().name, left.front().state);
}

}  // namespace arena
