#pragma once
// Performance reports of tasks: parsing every format of v0.2, pairing the cases of baseline and candidate,
// the speedup. All pure; times are milliseconds. Where v0.2 misreads (seconds by guess, stale reports, host
// times, scientific notation) we do not: docs/differences.md lists each.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace arena {

struct TimedCase {
  std::string id;             // test_case_id
  bool synthetic_id = false;  // we made the id up (test_case_<i>): cases never pair by it
  double time_ms = 0;         // > 0 and finite for a valid case; an invalid one keeps what was reported, or 0
  std::string problem;        // why the case has no valid time; empty for a valid one
  bool inverse_rate = false;  // time_ms is 1 / bytes_per_second_gs: good for ratios, no milliseconds
  std::string shape;          // canonical JSON text, empty if not reported
  std::string params;         // canonical JSON text, empty if not reported
  std::string dtype;
  std::string benchmark_method;  // empty if not reported
  std::string benchmark_fallback_reason;
  bool method_disputed = false;  // the task itself says that its methods were not consistent

  bool is_valid() const { return problem.empty(); }
  bool operator==(const TimedCase&) const = default;
};

enum class TimedSide { baseline, candidate };  // torch2hip reports ori_time / opt_time for the two

struct TimingOptions {
  TimedSide side = TimedSide::candidate;
  bool torch2hip = false;
};

// Names of report files below the workspace, in the order in which they are looked for (FORMATS 1.3).
const std::vector<std::string>& report_file_names();

// Cases of one report file or of a command's output. An unreadable report is invalid_input naming why, one
// that has only host times is unsupported; no case is an empty list. In a report with at least one time, a
// case without one is kept as invalid, never dropped: what is missing must be seen.
Result<std::vector<TimedCase>> parse_report_json(std::string_view text, const TimingOptions& options);
std::vector<TimedCase> parse_report_stdout(std::string_view text);

// Compact JSON with sorted keys, whole numbers without fraction and ASCII escapes: equal values have equal
// texts. It is a YAML flow value as well. `text` must be JSON; anything else, or one nested too deeply, gives
// an error.
Result<std::string> canonical_json(std::string_view text);

struct CasePair {
  TimedCase baseline;
  TimedCase candidate;
  double ratio = 0;  // baseline / candidate
};

struct SpeedupResult {
  std::vector<CasePair> pairs;
  std::optional<double>
      speedup;          // mean of the ratios; only when every case of both sides is paired and valid
  std::string problem;  // why there is no speedup, empty if there is one
  // Over the valid cases of the side; nothing if they are no milliseconds.
  std::optional<double> baseline_mean_ms, candidate_mean_ms;
  bool method_consistent = false;  // every pair has the same scoreable method (is_scoreable_method)
  std::vector<std::string> method_mismatches;
  bool workload_consistent = false;  // every pair has identical shape, params, dtype
  std::vector<std::string> workload_mismatches;
};

// v0.3's cuda_graph and cuda_event_fallback, and cpu_steady_clock_median of our own CPU tasks.
bool is_scoreable_method(std::string_view method);

// Pairs explicit unique ids, then unique params, then unique shapes, then by position if there is one case on
// each side.
SpeedupResult compute_speedup(const std::vector<TimedCase>& baseline,
                              const std::vector<TimedCase>& candidate);

std::string write_perf_yaml(const std::vector<TimedCase>& cases);  // baseline_perf.yaml, optimized_perf.yaml
Result<std::vector<TimedCase>> read_perf_yaml(std::string_view text, const std::string& name);

}  // namespace arena
