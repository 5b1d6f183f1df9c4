#pragma once
// Clock, power, temperature and throttling of a GPU while one timed step runs: arena-probe samples them, in a
// process of its own that is no GPU process. Without a GPU, or where the probe does not start, nothing is
// recorded and the step runs all the same.
#include <chrono>
#include <optional>

#include "base/path.h"
#include "device/device.h"
#include "device/telemetry.h"
#include "os/descriptor.h"
#include "os/process.h"

namespace arena {

class TelemetryRecorder {
 public:
  // For `device`, absent for a CPU slot.
  TelemetryRecorder(fs::path arena_probe, std::optional<Device> device, EnvironmentMap environment);
  ~TelemetryRecorder();
  TelemetryRecorder(const TelemetryRecorder&) = delete;
  TelemetryRecorder& operator=(const TelemetryRecorder&) = delete;

  // Returns once the first sample is there: opening a vendor's library must not fall into the step.
  void start();
  // Ends the sampler. Nothing if there was no sample. The first one is of the device as the step found it.
  std::optional<TelemetrySummary> stop();

 private:
  void end_sampler();

  fs::path arena_probe_;
  std::optional<Device> device_;
  EnvironmentMap environment_;
  std::optional<LaunchedProcess> sampler_;
  Descriptor samples_;  // the reading end of its output
  std::chrono::milliseconds begin_{0};
};

}  // namespace arena
