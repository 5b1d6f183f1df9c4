#pragma once
// Performance reports of tasks: parsing every format of v0.2, pairing the cases of baseline and candidate, the speedup.
// All pure; times are milliseconds. Where v0.2 misreads (seconds by guess, stale reports, host times, scientific notation)
// we do not: docs/differences.md lists each.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace arena {

struct TimedCase {
  std::string id;                  // test_case_id
  bool synthetic_id = false;       // we made the id up (test_case_<i>): it never pairs by id with an explicit one
  double time_ms = 0;              // > 0 and finite for a valid case
  std::string shape;               // canonical JSON text, empty if not reported
  std::string params;              // canonical JSON text, empty if not reported
  std::string dtype;
  std::string benchmark_method;    // empty if not reported
  std::string benchmark_fallback_reason;
};

enum class TimedSide { baseline, candidate };  // torch2hip reports ori_time / opt_time for the two

struct TimingOptions {
  TimedSide side = TimedSide::candidate;
  bool torch2hip = false;
};

// Names of report files below the workspace, in the order in which they are looked for (FORMATS 1.3).
const std::vector<std::string>& report_file_names();

// Cases of one report file or of a command's output. An unreadable report is an error naming why; no case is an empty list.
Result<std::vector<TimedCase>> parse_report_json(std::string_view text, const TimingOptions& options);
std::vector<TimedCase> parse_report_stdout(std::string_view text);

struct CasePair {
  TimedCase baseline;
  TimedCase candidate;
  double ratio = 0;  // baseline / candidate
};

struct SpeedupResult {
  std::vector<CasePair> pairs;
  std::optional<double> speedup;       // arithmetic mean of ratios; only when every case of both sides is paired and valid
  std::string problem;                 // why there is no speedup, empty if there is one
  std::optional<double> baseline_mean_ms;
  std::optional<double> candidate_mean_ms;
  bool method_consistent = false;      // every pair has the same scoreable method (v0.3: cuda_graph, cuda_event_fallback)
  std::vector<std::string> method_mismatches;
  bool workload_consistent = false;    // every pair has identical shape, params, dtype
  std::vector<std::string> workload_mismatches;
};
// Pairs explicit unique ids, then unique params, then unique shapes, then by position if there is one case on each side.
SpeedupResult compute_speedup(const std::vector<TimedCase>& baseline, const std::vector<TimedCase>& candidate);

std::string write_perf_yaml(const std::vector<TimedCase>& cases);  // baseline_perf.yaml, optimized_perf.yaml
Result<std::vector<TimedCase>> read_perf_yaml(std::string_view text, const std::string& name);

}  // namespace arena
