#include "worker/telemetry_recorder.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include <fmt/format.h>

#include "base/text.h"

namespace arena {

namespace {

constexpr int kPipeBytes = 1 << 20;  // half an hour of samples; what comes after it is not recorded
constexpr int kFirstSampleMs = 3000;
constexpr int kEndMs = 2000;

std::chrono::milliseconds steady_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

std::string read_available(int descriptor) {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

TelemetryRecorder::TelemetryRecorder(fs::path arena_probe, std::optional<Device> device,
                                     EnvironmentMap environment)
    : arena_probe_(std::move(arena_probe)),
      device_(std::move(device)),
      environment_(std::move(environment)) {}

TelemetryRecorder::~TelemetryRecorder() { end_sampler(); }

void TelemetryRecorder::start() {
  end_sampler();
  if (!device_) return;
  begin_ = steady_now();
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  samples_ = Descriptor(ends[0]);
  const Descriptor writing(ends[1]);
  static_cast<void>(::fcntl(ends[0], F_SETPIPE_SZ, kPipeBytes));
  LaunchSpec spec;
  spec.argv = {
      arena_probe_.string(),          "sample", "--vendor", std::string(name_of(device_->vendor)), "--pci",
      to_string(device_->pci_address)};
  spec.environment = environment_;
  spec.working_directory = "/";
  spec.output_file = fmt::format("/proc/self/fd/{}", writing.get());
  auto launched = launch(spec);
  if (!launched) return spdlog::warn("no telemetry: {}", launched.error().message);
  sampler_.emplace(std::move(*launched));
  pollfd first{samples_.get(), POLLIN, 0};
  if (::poll(&first, 1, kFirstSampleMs) != 1) spdlog::warn("no telemetry yet: arena-probe sample is silent");
}

std::optional<TelemetrySummary> TelemetryRecorder::stop() {
  if (!sampler_) return std::nullopt;
  const auto end = steady_now();
  end_sampler();
  std::vector<TelemetrySample> samples;
  for (const std::string& line : split(read_available(samples_.get()), "\n")) {
    if (auto sample = parse_telemetry_line(line)) samples.push_back(std::move(*sample));
  }
  samples_.close();
  TelemetrySummary summary = summarize_telemetry(samples, begin_, end);
  if (summary.samples == 0) return std::nullopt;
  return summary;
}

void TelemetryRecorder::end_sampler() {
  if (!sampler_) return;
  pollfd ended{sampler_->pidfd(), POLLIN, 0};
  static_cast<void>(sampler_->signal(SIGTERM));
  if (::poll(&ended, 1, kEndMs) != 1) {
    static_cast<void>(sampler_->signal(SIGKILL));
    ::poll(&ended, 1, kEndMs);
  }
  sampler_->reap();
  sampler_.reset();
}

}  // namespace arena
