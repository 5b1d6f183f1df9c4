#include "os/process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "os/process_table.h"
#include "os/spawn.h"

namespace arena {

namespace {

std::string text_of(const Exited& end) { return fmt::format("exit code {}", end.code); }

std::string text_of(const Signaled& end) {
  const char* const name = ::sigabbrev_np(end.signal);
  return fmt::format("killed by {}{}",
                     name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", end.signal),
                     end.core_dumped ? " (core dumped)" : "");
}

std::string text_of(const TimedOut& end) {
  const auto milliseconds = end.limit.count();
  const std::string limit = milliseconds % 1000 == 0 && milliseconds < 600'000
                                ? fmt::format("{} s", milliseconds / 1000)
                                : format_duration(end.limit);
  switch (end.timer) {
    case TimedOut::Timer::total:
      break;
    case TimedOut::Timer::idle:
      return "silent for " + limit;
    case TimedOut::Timer::final_grace:
      return fmt::format("did not exit within {} of its last event", limit);
  }
  return "timed out after " + limit;
}

std::string text_of(const Stopped&) { return "stopped"; }

}  // namespace

std::string describe(const ProcessEnd& end) {
  return std::visit([](const auto& way) { return text_of(way); }, end);
}

LaunchedProcess::LaunchedProcess(LaunchedProcess&& other) noexcept
    : pid_(other.pid_), pidfd_(std::exchange(other.pidfd_, -1)), pid_namespace_(other.pid_namespace_) {}

LaunchedProcess& LaunchedProcess::operator=(LaunchedProcess&& other) noexcept {
  Descriptor(std::exchange(pidfd_, std::exchange(other.pidfd_, -1))).close();
  pid_ = other.pid_;
  pid_namespace_ = other.pid_namespace_;
  return *this;
}

LaunchedProcess::~LaunchedProcess() { Descriptor(pidfd_).close(); }

Status LaunchedProcess::signal(int signal_number) const {
  const int error = send_signal(pidfd_, signal_number);
  if (error == 0) return {};
  if (error == ESRCH) return fail(ErrorCode::not_found, fmt::format("process {} has exited", pid_));
  return fail(error_from_errno(error, "signal process", std::to_string(pid_)));
}

std::optional<ProcessEnd> LaunchedProcess::reap() const { return reap_child(pidfd_); }

Result<LaunchedProcess> launch(const LaunchSpec& spec) {
  const Descriptor input = open_at(AT_FDCWD, "/dev/null", O_RDONLY);
  if (!input) return fail(error_from_errno(errno, "open", "/dev/null"));
  const std::string output_name = spec.output_file.empty() ? "/dev/null" : spec.output_file.native();
  const Descriptor output = open_at(AT_FDCWD, output_name.c_str(), O_WRONLY | O_APPEND | O_CREAT);
  if (!output) return fail(error_from_errno(errno, "open", output_name));
  ARENA_ASSIGN(Spawned child, spawn({spec.argv, spec.environment, spec.working_directory, input.get(),
                                     output.get(), spec.new_session, spec.new_pid_namespace}));
  return LaunchedProcess(child.pid, child.pidfd.release(), child.pid_namespace);
}

fs::path find_program(const std::string& program, const std::string& path_variable) {
  if (program.empty()) return {};
  // Relative entries (and the empty one, which means the current directory) would lead into whatever tree a
  // step works in.
  for (const std::string& directory : split(path_variable, ":")) {
    if (directory.front() != '/') continue;
    fs::path candidate = fs::path(directory) / program;
    struct stat info {};
    if (::stat(candidate.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        ::faccessat(AT_FDCWD, candidate.c_str(), X_OK, AT_EACCESS) == 0) {
      return candidate;
    }
  }
  return {};
}

}  // namespace arena
