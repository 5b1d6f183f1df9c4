#include "model/timing.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "model/stats.h"

namespace arena {

namespace {

constexpr std::size_t kMostNamed = 5;  // cases named in one message

std::string name_of_case(const TimedCase& timed) {
  std::string name = fmt::format("'{}'", timed.id);
  if (timed.synthetic_id && !timed.shape.empty()) name += fmt::format(" {}", timed.shape);
  return name;
}

std::string name_cases(const std::vector<const TimedCase*>& cases) {
  std::string text;
  for (std::size_t i = 0; i < std::min(cases.size(), kMostNamed); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", name_of_case(*cases[i]));
  }
  if (cases.size() > kMostNamed) text += fmt::format(" and {} more", cases.size() - kMostNamed);
  return text;
}

// Pairs cases of the two sides by one key after another. A key pairs only where it is unique among the cases
// left on both sides: a value that appears twice could pair the wrong two.
class Matcher {
 public:
  Matcher(const std::vector<TimedCase>& baseline, const std::vector<TimedCase>& candidate)
      : baseline_(baseline),
        candidate_(candidate),
        partner_(baseline.size(), kNone),
        taken_(candidate.size(), false) {
    const auto explicit_id = [](const TimedCase& timed) {
      return timed.synthetic_id ? std::string() : timed.id;
    };
    pair_by(explicit_id);
    pair_by([](const TimedCase& timed) { return timed.params; });
    pair_by([](const TimedCase& timed) { return timed.shape; });
    if (baseline.size() == 1 && candidate.size() == 1) pair(0, 0);
  }

  // In the order of the baseline.
  std::vector<CasePair> pairs() const {
    std::vector<CasePair> pairs;
    for (std::size_t i = 0; i < baseline_.size(); ++i) {
      if (partner_[i] != kNone) pairs.push_back({baseline_[i], candidate_[partner_[i]], 0});
    }
    return pairs;
  }
  std::vector<const TimedCase*> single_baseline() const {
    std::vector<const TimedCase*> single;
    for (std::size_t i = 0; i < baseline_.size(); ++i) {
      if (partner_[i] == kNone) single.push_back(&baseline_[i]);
    }
    return single;
  }
  std::vector<const TimedCase*> single_candidate() const {
    std::vector<const TimedCase*> single;
    for (std::size_t i = 0; i < candidate_.size(); ++i) {
      if (!taken_[i]) single.push_back(&candidate_[i]);
    }
    return single;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void pair(std::size_t baseline, std::size_t candidate) {
    partner_[baseline] = candidate;
    taken_[candidate] = true;
  }

  template <class KeyOf>
  void pair_by(KeyOf key_of) {
    struct Holders {
      std::size_t baseline_count = 0, baseline = 0, candidate_count = 0, candidate = 0;
    };
    std::map<std::string, Holders> holders;
    for (std::size_t i = 0; i < baseline_.size(); ++i) {
      if (partner_[i] != kNone) continue;
      Holders& entry = holders[key_of(baseline_[i])];
      ++entry.baseline_count;
      entry.baseline = i;
    }
    for (std::size_t i = 0; i < candidate_.size(); ++i) {
      if (taken_[i]) continue;
      Holders& entry = holders[key_of(candidate_[i])];
      ++entry.candidate_count;
      entry.candidate = i;
    }
    for (const auto& [key, entry] : holders) {
      if (!key.empty() && entry.baseline_count == 1 && entry.candidate_count == 1)
        pair(entry.baseline, entry.candidate);
    }
  }

  const std::vector<TimedCase>& baseline_;
  const std::vector<TimedCase>& candidate_;
  std::vector<std::size_t> partner_;  // of each baseline case
  std::vector<bool> taken_;           // candidate cases
};

void add_problem(SpeedupResult& result, const std::string& problem) {
  if (!result.problem.empty()) result.problem += "; ";
  result.problem += problem;
}

void check_times(SpeedupResult& result, std::string_view side, const std::vector<TimedCase>& cases) {
  std::vector<const TimedCase*> invalid;
  for (const TimedCase& timed : cases) {
    if (!timed.is_valid()) invalid.push_back(&timed);
  }
  if (invalid.empty()) return;
  add_problem(result, fmt::format("{} of {} {} cases without a valid time: {} ({})", invalid.size(),
                                  cases.size(), side, name_cases(invalid), invalid.front()->problem));
}

void check_pairing(SpeedupResult& result, std::string_view side, std::string_view other, std::size_t count,
                   const std::vector<const TimedCase*>& single) {
  if (single.empty()) return;
  add_problem(
      result,
      fmt::format("{} of {} {} cases without exactly one {} case for the same id, params or shape: {}",
                  single.size(), count, side, other, name_cases(single)));
}

std::optional<double> mean_time(const std::vector<TimedCase>& cases) {
  std::vector<double> times;
  for (const TimedCase& timed : cases) {
    if (timed.inverse_rate) return std::nullopt;
    if (timed.is_valid()) times.push_back(timed.time_ms);
  }
  return mean(times);
}

// Why the two sides of a pair were not measured the same way, or empty.
std::string method_mismatch(const CasePair& pair) {
  const std::string& baseline = pair.baseline.benchmark_method;
  const std::string& candidate = pair.candidate.benchmark_method;
  const auto is_mixed = [](const std::string& method) { return method.substr(0, 6) == "mixed:"; };
  std::string_view reason;
  if (pair.baseline.method_disputed || pair.candidate.method_disputed) {
    reason = "task_reported_method_mismatch";
  } else if (is_mixed(baseline) || is_mixed(candidate)) {
    reason = "ambiguous_mixed_aggregate";
  } else if (!is_scoreable_method(baseline) || !is_scoreable_method(candidate)) {
    reason = "missing_or_unknown_benchmark_method";
  } else if (baseline != candidate) {
    reason = "benchmark_method_mismatch";
  } else {
    return {};
  }
  const auto shown = [](const std::string& method) { return method.empty() ? "none" : method; };
  return fmt::format("{}: {} (baseline {}, candidate {})", pair.baseline.id, reason, shown(baseline),
                     shown(candidate));
}

void compare_workloads(SpeedupResult& result, const CasePair& pair) {
  const auto compare = [&](std::string_view what, const std::string& baseline, const std::string& candidate) {
    if (baseline == candidate) return;
    result.workload_mismatches.push_back(
        fmt::format("{}: {} {} of the baseline, {} of the candidate", pair.baseline.id, what,
                    baseline.empty() ? "none" : baseline, candidate.empty() ? "none" : candidate));
  };
  compare("shape", pair.baseline.shape, pair.candidate.shape);
  compare("params", pair.baseline.params, pair.candidate.params);
  compare("dtype", pair.baseline.dtype, pair.candidate.dtype);
}

}  // namespace

const std::vector<std::string>& report_file_names() {
  static const std::vector<std::string> names = {"build/performance_report.json", "performance_report.json",
                                                 "build/perf_report.json", "perf_report.json",
                                                 "perf/benchmark_results.json"};
  return names;
}

bool is_scoreable_method(std::string_view method) {
  return method == "cuda_graph" || method == "cuda_event_fallback" || method == "cpu_steady_clock_median";
}

SpeedupResult compute_speedup(const std::vector<TimedCase>& baseline,
                              const std::vector<TimedCase>& candidate) {
  SpeedupResult result;
  result.baseline_mean_ms = mean_time(baseline);
  result.candidate_mean_ms = mean_time(candidate);
  if (baseline.empty()) add_problem(result, "the baseline has no timed case");
  if (candidate.empty()) add_problem(result, "the candidate has no timed case");
  if (!result.problem.empty()) return result;

  const Matcher matcher(baseline, candidate);
  result.pairs = matcher.pairs();
  check_times(result, "baseline", baseline);
  check_times(result, "candidate", candidate);
  check_pairing(result, "baseline", "candidate", baseline.size(), matcher.single_baseline());
  check_pairing(result, "candidate", "baseline", candidate.size(), matcher.single_candidate());

  std::vector<double> ratios;
  for (CasePair& pair : result.pairs) {
    if (std::string mismatch = method_mismatch(pair); !mismatch.empty())
      result.method_mismatches.push_back(std::move(mismatch));
    compare_workloads(result, pair);
    if (!pair.baseline.is_valid() || !pair.candidate.is_valid()) continue;
    pair.ratio = pair.baseline.time_ms / pair.candidate.time_ms;
    if (pair.baseline.inverse_rate != pair.candidate.inverse_rate) {
      add_problem(result,
                  fmt::format("case {} compares a time with a data rate", name_of_case(pair.baseline)));
    } else if (!std::isfinite(pair.ratio) || pair.ratio <= 0) {
      add_problem(result,
                  fmt::format("the ratio of case {} is out of range: {} ms / {} ms",
                              name_of_case(pair.baseline), pair.baseline.time_ms, pair.candidate.time_ms));
    }
    ratios.push_back(pair.ratio);
  }
  const bool complete = ratios.size() == baseline.size() && ratios.size() == candidate.size();
  result.method_consistent = complete && result.method_mismatches.empty();
  result.workload_consistent = complete && result.workload_mismatches.empty();
  if (!result.problem.empty()) return result;
  const auto speedup = mean(ratios);
  if (speedup && std::isfinite(*speedup)) {
    result.speedup = speedup;
  } else {
    add_problem(result, "the ratios of the cases are out of range");
  }
  return result;
}

}  // namespace arena
