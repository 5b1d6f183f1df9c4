#pragma once
// Work that may hang for ever, crash, or turn its process into a GPU process, each in a forked child of its
// own, all at the same time. A child tells what it does in lines of JSON; one that stays silent for too long
// is killed and not waited for, since a process inside a hung driver cannot be. The caller must have no
// threads.
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "device/probe/source.h"

namespace arena {

// The child's end of the line to its parent.
class ChildReport {
 public:
  ChildReport(int descriptor, std::set<std::string> skipped)
      : descriptor_(descriptor), skipped_(std::move(skipped)) {}
  void send(const nlohmann::ordered_json& line) const;
  SourceSink sink() const;  // sends what a source finds

 private:
  int descriptor_;
  std::set<std::string> skipped_;
};

struct ChildJob {
  std::function<void(const ChildReport&)> work;
};

struct ChildOutcome {
  enum class End { finished, crashed, hung } end = End::finished;
  std::vector<nlohmann::ordered_json> lines;  // of all its runs, in order
  std::string reading;                        // what the last run was doing
  std::string noise;                          // what libraries wrote to standard output and error, its end
  int signal = 0;                             // of a crash; 0: it left with an exit code
  // Devices at which a run hung, and what it was reading there; the next run left them alone.
  std::vector<std::pair<std::string, std::string>> hung_devices;
};

struct ChildLimits {
  // For a step of a library as a whole. rocm_smi waits 5 s for its own mutex, and a runtime on a busy machine
  // with many GPUs takes its time too.
  std::chrono::milliseconds library{20000};
  std::chrono::milliseconds device{5000};  // for a step about one device
  std::chrono::milliseconds total{30000};
};

std::vector<ChildOutcome> run_children(const std::vector<ChildJob>& jobs, const ChildLimits& limits);

}  // namespace arena
