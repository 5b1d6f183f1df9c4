#include "os/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <memory>

#include <fmt/format.h>

// The child runs on our memory: what a sanitizer notes about it would be noted about us.
#define ARENA_CHILD_CODE __attribute__((no_sanitize("address", "thread", "undefined")))

namespace arena {

namespace {

constexpr std::size_t kChildStack = std::size_t{64} << 10;
constexpr int kLastSignal = 64;  // libc hides 32 and 33 from sigaction(2), yet they are inherited like any

// Everything the child needs, made before it exists: between clone and exec only system calls are allowed.
struct ChildPlan {
  const char* program = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* directory = nullptr;  // null: stay
  const char* user_map = nullptr;   // null: no user namespace
  const char* group_map = nullptr;
  int input = -1;
  int output = -1;
  int error_output = -1;
  bool new_session = true;
  // Written by the child.
  enum class Step { start, map_users, change_directory, exec } step = Step::start;
  int error = 0;
};

ARENA_CHILD_CODE bool put(const char* file, const char* text) {
  const long descriptor = ::syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CLOEXEC, 0);
  if (descriptor < 0) return false;
  std::size_t size = 0;
  while (text[size] != '\0') ++size;
  const bool written = ::syscall(SYS_write, descriptor, text, size) == static_cast<long>(size);
  ::syscall(SYS_close, descriptor);
  return written;
}

ARENA_CHILD_CODE void give_up_on(ChildPlan& plan) {
  plan.error = errno;
  ::syscall(SYS_exit_group, 127);
}

// System calls by number, never through libc: a sanitizer or libc may keep books about them that belong to
// the parent.
ARENA_CHILD_CODE int child_main(void* argument) {
  ChildPlan& plan = *static_cast<ChildPlan*>(argument);
  plan.step = ChildPlan::Step::map_users;
  if (plan.user_map != nullptr) {
    put("/proc/self/setgroups", "deny");
    if (!put("/proc/self/uid_map", plan.user_map) || !put("/proc/self/gid_map", plan.group_map))
      give_up_on(plan);
  }
  plan.step = ChildPlan::Step::start;
  if (plan.new_session ? ::syscall(SYS_setsid) < 0 : ::syscall(SYS_setpgid, 0, 0) < 0) give_up_on(plan);
  // Handlers must not run on our memory, and what our own parent ignored (nohup, a shell's background jobs)
  // is no wish about this child.
  const char default_action[64] = {};
  for (int signal = 1; signal <= kLastSignal; ++signal) {
    if (signal != SIGKILL && signal != SIGSTOP)
      ::syscall(SYS_rt_sigaction, signal, default_action, nullptr, 8);
  }
  if (::syscall(SYS_dup3, plan.input, 0, 0) < 0 || ::syscall(SYS_dup3, plan.output, 1, 0) < 0 ||
      ::syscall(SYS_dup3, plan.error_output, 2, 0) < 0) {
    give_up_on(plan);
  }
  plan.step = ChildPlan::Step::change_directory;
  if (plan.directory != nullptr && ::syscall(SYS_chdir, plan.directory) < 0) give_up_on(plan);
  plan.step = ChildPlan::Step::exec;
  // Ours are all close-on-exec; this is for those of libraries and of whoever started us.
  if (::syscall(SYS_close_range, 3U, UINT_MAX, 0U) < 0) {
    for (int number = 3; number < 4096; ++number) ::syscall(SYS_close, number);
  }
  const unsigned long none = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, 8);
  ::syscall(SYS_execve, plan.program, plan.argv, plan.environment);
  give_up_on(plan);
  return 0;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// clone(2) with every signal blocked, so that no handler of ours runs in the child. The pid, or -1 with
// errno; returns once the child has called exec or has given up.
pid_t clone_child(ChildPlan& plan, unsigned namespaces, int& pidfd) {
  const auto stack = std::make_unique_for_overwrite<char[]>(kChildStack);
  char* const top = stack.get() + (kChildStack & ~std::size_t{15});
  const unsigned flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD | namespaces;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  const pid_t pid = ::clone(child_main, top, static_cast<int>(flags), &plan, &pidfd);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

Error start_error(const ChildPlan& plan) {
  const std::string what = plan.step == ChildPlan::Step::change_directory
                               ? fmt::format("start '{}' in directory", plan.program)
                               : std::string("start");
  const char* const on = plan.step == ChildPlan::Step::change_directory ? plan.directory : plan.program;
  Error error = error_from_errno(plan.error, what, on);
  if (plan.step == ChildPlan::Step::exec && plan.error == ENOENT && ::access(plan.program, F_OK) == 0) {
    error.message += " (the interpreter its first line names is missing)";
  }
  if (plan.step == ChildPlan::Step::exec && plan.error == ENOEXEC) {
    error.message += " (a script needs a first line such as #!/bin/sh)";
  }
  return error;
}

// A descriptor above 2, so that putting 0, 1 and 2 in place cannot overwrite it.
Result<Descriptor> above_standard(int descriptor) {
  Descriptor copy(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
  if (!copy) return fail(error_from_errno(errno, "start", "descriptor of a child"));
  return copy;
}

// With SIGCHLD ignored (inherited from a careless parent) children vanish without a status.
void notice_children() {
  struct sigaction action {};
  if (::sigaction(SIGCHLD, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
    std::signal(SIGCHLD, SIG_DFL);
}

}  // namespace

Result<Spawned> spawn(const SpawnRequest& request) {
  if (request.argv.empty() || request.argv.front().empty()) {
    return fail(ErrorCode::invalid_input, "cannot start a program without a name");
  }
  const std::string& name = request.argv.front();
  const auto path_variable = request.environment.find("PATH");
  const std::string path =
      path_variable == request.environment.end() ? "/usr/bin:/bin" : path_variable->second;
  const fs::path program = name.find('/') == std::string::npos ? find_program(name, path) : fs::path(name);
  if (program.empty()) {
    return fail(ErrorCode::not_found, fmt::format("cannot start '{}': not found in PATH ({})", name, path));
  }
  ARENA_ASSIGN(const Descriptor input, above_standard(request.input));
  ARENA_ASSIGN(const Descriptor output, above_standard(request.output));
  ARENA_ASSIGN(const Descriptor error, above_standard(request.error < 0 ? request.output : request.error));
  std::vector<std::string> argv = request.argv;
  std::vector<std::string> variables;
  for (const auto& [key, value] : request.environment) variables.push_back(fmt::format("{}={}", key, value));
  const std::vector<char*> argv_pointers = pointers_to(argv);
  const std::vector<char*> variable_pointers = pointers_to(variables);
  const std::string user_map = fmt::format("{0} {0} 1\n", ::geteuid());
  const std::string group_map = fmt::format("{0} {0} 1\n", ::getegid());
  notice_children();

  const auto attempt = [&](unsigned namespaces) -> Result<Spawned> {
    ChildPlan plan;
    plan.program = program.c_str();
    plan.argv = argv_pointers.data();
    plan.environment = variable_pointers.data();
    plan.directory = request.working_directory.empty() ? nullptr : request.working_directory.c_str();
    if ((namespaces & CLONE_NEWUSER) != 0) {
      plan.user_map = user_map.c_str();
      plan.group_map = group_map.c_str();
    }
    plan.input = input.get();
    plan.output = output.get();
    plan.error_output = error.get();
    plan.new_session = request.new_session;
    int number = -1;
    const pid_t pid = clone_child(plan, namespaces, number);
    if (pid < 0) return fail(error_from_errno(errno, "start", plan.program));
    Spawned child{pid, Descriptor(number), namespaces != 0};
    if (plan.error != 0) {
      ::waitpid(pid, nullptr, __WALL);
      return fail(plan.step == ChildPlan::Step::map_users
                      ? error_from_errno(plan.error, "map users for", plan.program)
                      : start_error(plan));
    }
    if (!child.pidfd) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, __WALL);
      return fail(ErrorCode::unsupported,
                  fmt::format("cannot start '{}': pidfd needs Linux 5.4", plan.program));
    }
    return child;
  };
  if (!request.new_pid_namespace) return attempt(0);
  // Without privileges a PID namespace needs a user namespace, in which we map ourselves onto ourselves.
  // Where neither is allowed (old containers, hardened hosts) the child is started plainly; a real failure to
  // start it then shows again.
  Result<Spawned> child = attempt(CLONE_NEWPID | (::geteuid() == 0 ? 0U : unsigned{CLONE_NEWUSER}));
  return child ? std::move(child) : attempt(0);
}

std::optional<ProcessEnd> reap_child(int pidfd) {
  siginfo_t info{};
  static constexpr auto kByPidfd =
      static_cast<idtype_t>(3);  // P_PIDFD, which glibc before 2.36 does not name
  int waited = 0;
  do {
    waited = ::waitid(kByPidfd, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG | __WALL);
  } while (waited != 0 && errno == EINTR);
  if (waited != 0 || info.si_pid == 0) return std::nullopt;
  if (info.si_code == CLD_EXITED) return Exited{info.si_status};
  return Signaled{info.si_status, info.si_code == CLD_DUMPED};
}

}  // namespace arena
