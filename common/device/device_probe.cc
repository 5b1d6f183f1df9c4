#include "device/device_probe.h"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>

#include <fmt/format.h>

#include "base/text.h"
#include "os/descriptor.h"

namespace arena {

namespace {

constexpr int kKillPatienceMs = 2000;

Result<std::string> read_memory(const Descriptor& memory) {
  const off_t size = ::lseek(memory.get(), 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::max<off_t>(size, 0)), '\0');
  if (::pread(memory.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return fail(error_from_errno(errno, "read", "the answer of arena-probe"));
  return text;
}

// Runs `arena-probe MODE` and returns what it printed. A probe that cannot even be killed is left behind.
Result<std::string> ask_probe(const fs::path& program, const std::string& mode,
                              const EnvironmentMap& environment, std::chrono::milliseconds deadline) {
  // Output goes to memory that the child opens by name: no file of ours anywhere.
  const Descriptor memory(::memfd_create("arena-probe", MFD_CLOEXEC));
  if (!memory) return fail(error_from_errno(errno, "make", "a buffer for arena-probe"));
  LaunchSpec spec;
  spec.argv = {program.string(), mode};
  spec.environment = environment;
  spec.working_directory = "/";
  spec.output_file = fmt::format("/proc/self/fd/{}", memory.get());
  ARENA_ASSIGN(const LaunchedProcess process, launch(spec));
  pollfd watched{process.pidfd(), POLLIN, 0};
  const auto end = std::chrono::steady_clock::now() + deadline;
  int ready = 0;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    ready = ::poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  } while (ready < 0 && errno == EINTR);
  if (ready != 1) {
    static_cast<void>(process.signal(SIGKILL));
    if (::poll(&watched, 1, kKillPatienceMs) == 1) process.reap();
    return fail(ErrorCode::timed_out,
                fmt::format("arena-probe {} did not answer within {}", mode, format_duration(deadline)));
  }
  const auto how = process.reap();
  ARENA_ASSIGN(std::string text, read_memory(memory));
  if (!how || !std::holds_alternative<Exited>(*how) || std::get<Exited>(*how).code != 0) {
    return fail(ErrorCode::io, fmt::format("arena-probe {} failed: {}; it wrote: {}", mode,
                                           how ? describe(*how) : "end not known",
                                           to_printable_utf8(trim(text.substr(0, 400)))));
  }
  return text;
}

}  // namespace

Result<ProbeReport> probe_devices(const fs::path& arena_probe, const EnvironmentMap& environment,
                                  std::chrono::milliseconds deadline) {
  ARENA_ASSIGN(const std::string text, ask_probe(arena_probe, "list", environment, deadline));
  return parse_probe_report(text);
}

Result<std::vector<RuntimeView>> see_devices(const fs::path& arena_probe, const EnvironmentMap& environment,
                                             std::chrono::milliseconds deadline) {
  ARENA_ASSIGN(const std::string text, ask_probe(arena_probe, "see", environment, deadline));
  return parse_runtime_views(text);
}

}  // namespace arena
