#include "coordinator/tool_versions.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/format.h>
#include <array>
#include <csignal>

#include "base/text.h"
#include "os/environment.h"
#include "os/process.h"

namespace arena {

namespace {

constexpr int kPatienceMs = 1000;

std::string first_line(int descriptor) {
  std::array<char, 512> bytes;
  const ssize_t got = ::pread(descriptor, bytes.data(), bytes.size(), 0);
  if (got <= 0) return "no answer";
  const std::string_view text(bytes.data(), static_cast<std::size_t>(got));
  return to_printable_utf8(trim(text.substr(0, text.find('\n'))));
}

std::string version_of(const fs::path& program, const EnvironmentMap& environment) {
  // Output goes to memory that the child opens by name: no file of ours anywhere.
  const int memory = ::memfd_create("arena-version", MFD_CLOEXEC);
  if (memory < 0) return "no answer";
  LaunchSpec spec;
  spec.argv = {program.string(), "--version"};
  spec.environment = environment;
  spec.working_directory = "/";
  spec.output_file = fmt::format("/proc/{}/fd/{}", ::getpid(), memory);
  std::string version = "no answer";
  if (const auto process = launch(spec)) {
    pollfd watched{process->pidfd(), POLLIN, 0};
    if (::poll(&watched, 1, kPatienceMs) == 1) {
      version = first_line(memory);
    } else {
      static_cast<void>(process->signal(SIGKILL));
      ::poll(&watched, 1, kPatienceMs);
    }
    process->reap();
  }
  ::close(memory);
  return version;
}

}  // namespace

std::map<std::string, std::string> read_tool_versions() {
  const EnvironmentMap environment = select_environment(current_environment(), basic_environment_names());
  const auto path = environment.find("PATH");
  std::map<std::string, std::string> versions;
  for (const std::string tool : {"g++", "git", "hipcc", "python3"}) {
    const fs::path program = find_program(tool, path == environment.end() ? "" : path->second);
    if (!program.empty()) versions[tool] = version_of(program, environment);
  }
  utsname system{};
  if (::uname(&system) == 0) versions["kernel"] = fmt::format("{} {}", system.sysname, system.release);
  return versions;
}

}  // namespace arena
