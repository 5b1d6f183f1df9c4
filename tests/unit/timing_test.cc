#include <doctest/doctest.h>

#include <fmt/format.h>

#include "base/text.h"
#include "model/timing.h"

namespace arena {

namespace {

std::vector<TimedCase> json(std::string_view text, TimingOptions options = {}) {
  auto cases = parse_report_json(text, options);
  CAPTURE(std::string(text));
  if (!cases) FAIL(cases.error().message);
  return *cases;
}

// The one time of a report, or -1 if it has not exactly one valid case.
double json_time(std::string_view text, TimingOptions options = {}) {
  const auto cases = json(text, options);
  return cases.size() == 1 && cases[0].is_valid() ? cases[0].time_ms : -1;
}

double printed_time(std::string_view text) {
  const auto cases = parse_report_stdout(text);
  return cases.size() == 1 && cases[0].is_valid() ? cases[0].time_ms : -1;
}

TimedCase make(std::string id, double time_ms) {
  TimedCase timed;
  timed.id = std::move(id);
  timed.time_ms = time_ms;
  timed.benchmark_method = "cuda_graph";
  return timed;
}

}  // namespace

TEST_SUITE_BEGIN("timing");

TEST_CASE("the three JSON forms of a report are read") {
  CHECK(
      json(
          R"([{"test_case_id": "a", "execution_time_ms": 1.5}, {"test_case_id": "b", "execution_time_ms": 2}])")
          .size() == 2);
  CHECK(json(R"({"test_cases": [{"test_case_id": "a", "execution_time_ms": 1.5}]})")[0].id == "a");
  CHECK(json_time(R"({"execution_time_ms": 1.5})") == 1.5);
  CHECK(json("[]").empty());
  CHECK(json("{}").empty());
  CHECK(json(R"({"test_cases": []})").empty());
  CHECK(json(R"([{"test_case_id": "a", "status": "ok"}])").empty());
}

TEST_CASE("a case keeps its description in canonical form") {
  const auto timed =
      json(R"([{"test_case_id": 7, "shapes": [128.0, 64], "params": {"b": 1, "a": [true, null]},
                               "dtype": "fp16", "benchmark_method": "cuda_graph", "benchmark_fallback_reason": "none",
                               "time_ms": 3}])")[0];
  CHECK(timed.id == "7");
  CHECK_FALSE(timed.synthetic_id);
  CHECK(timed.shape == "[128,64]");
  CHECK(timed.params == R"({"a":[true,null],"b":1})");
  CHECK(timed.dtype == "fp16");
  CHECK(timed.benchmark_method == "cuda_graph");
  CHECK(timed.benchmark_fallback_reason == "none");
}

TEST_CASE("a case without an id gets one that never pairs") {
  const auto cases = json(R"([{"time_ms": 1}, {"time_ms": 2}])");
  CHECK(cases[1].id == "test_case_1");
  CHECK(cases[1].synthetic_id);
  CHECK_FALSE(compute_speedup(cases, cases).speedup);
}

TEST_CASE("time keys are tried in the order of trust") {
  const char* keys[] = {"device_time_ms",
                        "gpu_time_ms",
                        "kernel_time_ms",
                        "cuda_event_time_ms",
                        "cuda_graph_time_ms",
                        "execution_time_ms",
                        "execution_time",
                        "time_ms",
                        "time"};
  for (std::size_t first = 0; first < std::size(keys); ++first) {
    std::string report = R"({"wall_time_ms": 99, "timing_ms": {"mean": 98})";
    for (std::size_t i = std::size(keys); i-- > first;)
      report += fmt::format(R"(, "{}": {})", keys[i], i + 1);
    CAPTURE(report);
    CHECK(json_time(report + "}") == static_cast<double>(first + 1));
  }
  CHECK(json_time(R"({"timing_ms": {"min": 1, "median": 2, "mean": 3}})") == 3);
  CHECK(json_time(R"({"timing_ms": {"min": 1, "median": 2}})") == 2);
  CHECK(json_time(R"({"timing_ms": {"min": 1}})") == 1);
  CHECK(json_time(R"({"device_time_ms": null, "time_ms": 4})") == 4);
}

TEST_CASE("torch2hip reports both sides in one file, and each side reads its own") {
  const char* report = R"([{"test_case_id": "a", "ori_time": 4.0, "opt_time": 2.0}])";
  const auto baseline = json(report, {TimedSide::baseline, true});
  const auto candidate = json(report, {TimedSide::candidate, true});
  CHECK(baseline[0].time_ms == 4);
  CHECK(candidate[0].time_ms == 2);
  CHECK(compute_speedup(baseline, candidate).speedup == 2);
  CHECK(json(report).empty());  // other task types have no such keys
}

TEST_CASE("a unitless time is milliseconds at any size, and a stated unit is believed") {
  CHECK(json_time(R"({"execution_time": 999})") == 999);
  CHECK(json_time(R"({"execution_time": 1500})") == 1500);
  CHECK(json_time(R"({"time": 2, "unit": "us"})") == 0.002);
  CHECK(json_time(R"({"time": 2, "time_unit": "s"})") == 2000);
  CHECK(json_time(R"({"execution_time_us": 3})") == 0.003);
  CHECK(json_time(R"({"kernel_time_ns": 3})") == 3e-6);
}

TEST_CASE("mixed or unknown units give no time") {
  CHECK(json(R"({"time_ms": 2, "unit": "us"})")[0].problem ==
        "time_ms contradicts the unit that the report states beside it");
  CHECK_FALSE(json(R"({"time": 2, "unit": "fortnights"})")[0].is_valid());
}

TEST_CASE("a report with nothing but host times is refused, with the key") {
  for (const char* key :
       {"host_time_ms", "wall_time_ms", "elapsed_time_ms", "total_time_ms", "end_to_end_time_ms"}) {
    const auto cases =
        parse_report_json(fmt::format(R"([{{"{}": 5, "timing_ms": {{"mean": 1}}}}])", key), {});
    REQUIRE_FALSE(cases);
    CHECK(cases.error().code == ErrorCode::unsupported);
    CHECK(contains(cases.error().message, key));
  }
}

TEST_CASE("a case without a device time among others stays as an invalid one") {
  const auto cases = json(
      R"([{"test_case_id": "a", "time_ms": 1}, {"test_case_id": "b", "wall_time_ms": 5}, {"test_case_id": "c"}])");
  REQUIRE(cases.size() == 3);
  CHECK(cases[1].problem == "only a host time (wall_time_ms) is reported");
  CHECK(cases[2].problem == "no time is reported");
  const auto result = compute_speedup(cases, cases);
  CHECK_FALSE(result.speedup);
  CHECK(contains(result.problem, "'b'"));
}

TEST_CASE("negative, zero and ill-typed times are invalid cases, not missing ones") {
  for (const char* value : {"-1", "0", "0.0", "\"1.5\"", "true", "[1]", "1e-400"}) {
    CAPTURE(value);
    const auto cases = json(fmt::format(R"({{"execution_time_ms": {}}})", value));
    REQUIRE(cases.size() == 1);
    CHECK_FALSE(cases[0].is_valid());
  }
  CHECK(json(R"({"time_ms": -1})")[0].time_ms == -1);
}

TEST_CASE("a data rate is inverted, pairs with a rate only and gives no mean time") {
  const auto slow = json(R"({"bytes_per_second_gs": 100})");
  const auto fast = json(R"({"bytes_per_second_gs": 400})");
  const auto result = compute_speedup(slow, fast);
  CHECK(result.speedup == 4);
  CHECK_FALSE(result.baseline_mean_ms);
  CHECK_FALSE(compute_speedup(slow, json(R"({"time_ms": 1})")).speedup);
}

TEST_CASE("a bare mapping names its cases by its _ms keys") {
  const auto cases =
      json(R"({"softmax_ms": 2, "gelu_ms": 1, "wall_time_ms": 9, "warmup_ms": 7, "kernel": "x"})");
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].id == "gelu_0");
  CHECK(cases[1].id == "softmax_1");
  CHECK(json(R"({"gelu_ms": 1})")[0].id == "gelu");
}

TEST_CASE("mean, spread and extremes of one kernel are one case") {
  const auto cases = json(R"({"mean_ms": 2, "std_ms": 0.1, "min_ms": 1.5, "max_ms": 9, "p99_ms": 8})");
  REQUIRE(cases.size() == 1);
  CHECK(cases[0].time_ms == 2);
}

TEST_CASE("what is not proper JSON is an error, not an empty report") {
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  for (const std::string& bad :
       {std::string(), std::string("{"), std::string("nonsense"), std::string("3"), std::string("null"),
        std::string(R"({"time_ms": NaN})"), std::string(R"({"time_ms": Infinity})"),
        std::string(R"({"time_ms": 1e999})"), std::string(R"({"time_ms": 1, "time_ms": 2})"),
        std::string(R"([{"a": {"x": 1, "x": 1}}])"), std::string(R"({"test_cases": {"a": 1}})"),
        std::string("[1, 2]"), std::string("{\"a\": \"\xFF\"}"), deep,
        std::string(R"({"time_ms": 1} {"time_ms": 2})")}) {
    CAPTURE(bad);
    const auto cases = parse_report_json(bad, {});
    REQUIRE_FALSE(cases);
    CHECK(cases.error().code == ErrorCode::invalid_input);
    CHECK_FALSE(contains(cases.error().message, "\n"));
  }
}

TEST_CASE("a report cut at any byte is an error") {
  const std::string report = R"({"test_cases": [{"test_case_id": "a", "time_ms": 1.25}]})";
  for (std::size_t length = 0; length < report.size(); ++length) {
    CHECK_FALSE(parse_report_json(std::string_view(report).substr(0, length), {}));
  }
}

TEST_CASE("equal JSON has one canonical text") {
  CHECK(canonical_json(R"({"b": [1, 2.0], "a": "x"})").value() ==
        canonical_json(R"( {"a":"x","b":[1.0,2]} )").value());
  CHECK(canonical_json("\"gr\xC3\xBC\xE2\x82\xAC\x7F\xF0\x9F\x98\x80\"").value() ==
        "\"gr\\u00fc\\u20ac\\u007f\xF0\x9F\x98\x80\"");
  CHECK(canonical_json("18446744073709551615").value() == canonical_json("1.8446744073709552e19").value());
  CHECK_FALSE(canonical_json("{1"));
}

TEST_CASE("printed test cases are read with sign, exponent and unit") {
  const auto cases = parse_report_stdout(
      "Test case 1: 0.5 ms\nTESTCASE  2 : 1.5e-03ms\nTest case 3:\n 250 us\ntest case 04: 2 s\n");
  REQUIRE(cases.size() == 4);
  CHECK(cases[0].id == "test_case_1");
  CHECK(cases[0].time_ms == 0.5);
  CHECK(cases[1].time_ms == 0.0015);
  CHECK(cases[2].time_ms == 0.25);
  CHECK(cases[3].id == "test_case_04");
  CHECK(cases[3].time_ms == 2000);
}

TEST_CASE("a printed case that failed stays visible") {
  const auto cases = parse_report_stdout(
      "Test case 1: 0.5 ms\nTest case 2: nan ms\nTest case 3: -1 ms\nTest case 4: 1e999 ms\n");
  REQUIRE(cases.size() == 4);
  for (std::size_t i = 1; i < 4; ++i) CHECK_FALSE(cases[i].is_valid());
}

TEST_CASE("printed shapes pair by shape") {
  const auto baseline = parse_report_stdout("Shape: [128, 64] 4 ms\nshape [256,64]: 8 ms\n");
  const auto candidate = parse_report_stdout("shape: [256, 64]: 2 ms\nShape: [128,64,] 1 ms\n");
  REQUIRE(baseline.size() == 2);
  CHECK(baseline[0].shape == "[128,64]");
  const auto result = compute_speedup(baseline, candidate);
  CHECK(result.speedup == 4);
  CHECK(result.workload_consistent);
}

TEST_CASE("the first family of lines that matches wins, nothing is counted twice") {
  const auto cases = parse_report_stdout(
      "Test case 0: 1 ms\nShape: [4] 1 ms\nPerformance: 1 ms\nGEAK_RESULT_LATENCY_MS=1\n");
  REQUIRE(cases.size() == 1);
  CHECK(cases[0].id == "test_case_0");
  CHECK(parse_report_stdout("Performance: 1 ms\nPerformance: 2 ms\n")[1].id == "perf_1");
}

TEST_CASE("single printed times are found in the order of v0.2") {
  CHECK(printed_time("took 9 ms\nGEAK_RESULT_LATENCY_MS=1.25\n") == 1.25);
  CHECK(printed_time("GEAK_RESULT_LATENCY_MS=1.5e-05") == 1.5e-5);
  CHECK(printed_time("took 9 ms, execution time: 2 ms, elapsed 3 ms, avg 4 ms") == 2);
  CHECK(printed_time("execution_time = 0.5 s") == 500);
  CHECK(printed_time("Performance: 0.5 s") == 500);
  CHECK(printed_time("took 9 ms, elapsed time: 3 ms, avg 4 ms") == 3);
  CHECK(printed_time("took 9 ms, avg: 4 us") == 0.004);
  CHECK(printed_time("elapsed 12 s, elapsed 5 ms") == 5);
  CHECK(printed_time("2 s in all, 7.5 ms each") == 7.5);
  CHECK(printed_time("about 1.5 seconds") == 1500);
  CHECK(printed_time("12 \xC2\xB5s") == 0.012);
}

TEST_CASE("half a number is never taken for a whole one") {
  CHECK(printed_time("result 1.5e-03 ms") == 0.0015);
  for (const char* text : {"1,234.5 ms", "1.2.3 ms", "v12ms", "-5 ms", "3-5 ms", "5 msamples", "5 apples",
                           "0 ms", "3 m s", "x_5 ms"}) {
    CAPTURE(text);
    CHECK(parse_report_stdout(text).empty());
  }
}

TEST_CASE("how long a test program ran is not a kernel's time") {
  CHECK(parse_report_stdout("===== 3 passed, 1 warning in 12.31s =====\n").empty());
  CHECK(printed_time("3 passed in 12.31s\nkernel 0.5 s\n") == 500);
}

TEST_CASE("the latest case is not a test case") { CHECK(printed_time("latest case 3: 5 ms") == 5); }

TEST_CASE("printed methods are kept") {
  const auto cases = parse_report_stdout(
      "GEAK_RESULT_LATENCY_MS=1\nGEAK_BENCHMARK_METHOD=cuda_graph\nGEAK_BENCHMARK_METHOD_CONSISTENT=0\n");
  REQUIRE(cases.size() == 1);
  CHECK(cases[0].benchmark_method == "cuda_graph");
  CHECK(cases[0].method_disputed);
}

TEST_CASE("a baseline of 2 and a candidate of 1 are a speedup of 2 in every format and unit") {
  const auto check = [](const std::vector<TimedCase>& baseline, const std::vector<TimedCase>& candidate) {
    CHECK(compute_speedup(baseline, candidate).speedup == 2);
    CHECK(compute_speedup(candidate, baseline).speedup == 0.5);
  };
  for (const char* form :
       {R"({{"test_cases": [{{"test_case_id": "a", "time_ms": {}}}]}})", R"([{{"execution_time": {}}}])",
        R"({{"device_time_ms": {}}})", R"({{"gelu_ms": {}}})", R"({{"timing_ms": {{"median": {}}}}})",
        R"([{{"params": {{"m": 1}}, "kernel_time_us": {}}}])"}) {
    CAPTURE(form);
    check(json(fmt::format(fmt::runtime(form), 2)), json(fmt::format(fmt::runtime(form), 1)));
  }
  for (const char* form :
       {"Test case 1: {} ms", "Shape: [4, 4] {} us", "Performance: {} ms", "Performance: {} s",
        "GEAK_RESULT_LATENCY_MS={}", "elapsed {} ms", "avg {} ns", "{} ms", "{} seconds"}) {
    CAPTURE(form);
    check(parse_report_stdout(fmt::format(fmt::runtime(form), 2)),
          parse_report_stdout(fmt::format(fmt::runtime(form), 1)));
  }
}

TEST_CASE("the speedup is the mean of the ratios, not the ratio of the means") {
  const auto result = compute_speedup({make("a", 10), make("b", 1)}, {make("b", 1), make("a", 5)});
  CHECK(result.speedup == 1.5);
  CHECK(result.baseline_mean_ms == 5.5);
  CHECK(result.candidate_mean_ms == 3);
  CHECK(result.problem.empty());
  CHECK(result.pairs.size() == 2);
  CHECK(result.pairs[0].ratio == 2);
  CHECK(result.method_consistent);
  CHECK(result.workload_consistent);
}

TEST_CASE("a case missing on either side is no speedup, and the case is named") {
  const std::vector<TimedCase> both{make("a", 2), make("b", 2)};
  const auto lost = compute_speedup(both, {make("a", 1)});
  CHECK_FALSE(lost.speedup);
  CHECK(contains(lost.problem, "1 of 2 baseline cases"));
  CHECK(contains(lost.problem, "'b'"));
  CHECK_FALSE(lost.method_consistent);
  const auto added = compute_speedup({make("a", 2)}, both);
  CHECK_FALSE(added.speedup);
  CHECK(contains(added.problem, "1 of 2 candidate cases"));
}

TEST_CASE("nothing on one side is no speedup, with the side named") {
  CHECK(compute_speedup({}, {make("a", 1)}).problem == "the baseline has no timed case");
  CHECK(compute_speedup({make("a", 1)}, {}).problem == "the candidate has no timed case");
  CHECK_FALSE(compute_speedup({}, {}).speedup);
}

TEST_CASE("ids that appear twice pair nothing by id, but params still can") {
  std::vector<TimedCase> baseline{make("a", 2), make("a", 8)};
  std::vector<TimedCase> candidate{make("a", 2), make("a", 1)};
  const auto ambiguous = compute_speedup(baseline, candidate);
  CHECK_FALSE(ambiguous.speedup);
  CHECK(contains(ambiguous.problem, "'a'"));
  baseline[0].params = candidate[1].params = R"({"n":1})";
  baseline[1].params = candidate[0].params = R"({"n":2})";
  CHECK(compute_speedup(baseline, candidate).speedup == 3);
}

TEST_CASE("explicit ids go before params, params before shapes") {
  TimedCase a = make("a", 4);
  a.params = "1";
  a.shape = "[1]";
  TimedCase b = make("b", 4);
  b.params = "2";
  b.shape = "[2]";
  TimedCase a_now = a;
  a_now.time_ms = 1;
  TimedCase b_now = b;
  b_now.time_ms = 2;
  std::swap(a_now.params, b_now.params);
  CHECK(compute_speedup({a, b}, {a_now, b_now}).pairs[0].candidate.time_ms == 1);
  for (TimedCase* timed : {&a, &b, &a_now, &b_now}) timed->synthetic_id = true;
  CHECK(compute_speedup({a, b}, {a_now, b_now}).pairs[0].candidate.time_ms == 2);
}

TEST_CASE("one case on each side pairs whatever it is called, two do not") {
  CHECK(compute_speedup({make("old", 3)}, {make("new", 1)}).speedup == 3);
  CHECK_FALSE(compute_speedup({make("x", 3), make("y", 3)}, {make("v", 1), make("w", 1)}).speedup);
}

TEST_CASE("invalid times on either side are no speedup") {
  TimedCase bad = make("b", 0);
  bad.problem = "time_ms is 0";
  for (const auto& [baseline, candidate] : {std::pair{bad, make("b", 1)}, std::pair{make("b", 1), bad}}) {
    const auto result = compute_speedup({make("a", 1), baseline}, {make("a", 1), candidate});
    CHECK_FALSE(result.speedup);
    CHECK(contains(result.problem, "time_ms is 0"));
  }
  CHECK_FALSE(compute_speedup({make("a", 1e308)}, {make("a", 1e-308)}).speedup);
}

TEST_CASE("methods must be known and the same") {
  const auto mismatch = [](std::string baseline, std::string candidate) {
    TimedCase before = make("a", 2);
    TimedCase after = make("a", 1);
    before.benchmark_method = std::move(baseline);
    after.benchmark_method = std::move(candidate);
    const auto result = compute_speedup({before}, {after});
    CHECK(result.speedup == 2);
    CHECK(result.method_consistent == result.method_mismatches.empty());
    return result.method_mismatches.empty() ? std::string() : result.method_mismatches[0];
  };
  CHECK(mismatch("cuda_graph", "cuda_graph").empty());
  CHECK(mismatch("cpu_steady_clock_median", "cpu_steady_clock_median").empty());
  CHECK(contains(mismatch("cuda_graph", "cuda_event_fallback"), "benchmark_method_mismatch"));
  CHECK(contains(mismatch("", ""), "missing_or_unknown_benchmark_method"));
  CHECK(contains(mismatch("sundial", "sundial"), "missing_or_unknown_benchmark_method"));
  CHECK(contains(mismatch("mixed:cuda_graph", "mixed:cuda_graph"), "ambiguous_mixed_aggregate"));
}

TEST_CASE("workloads must be the same") {
  TimedCase before = make("a", 2);
  TimedCase after = make("a", 1);
  before.dtype = "fp32";
  after.dtype = "fp16";
  const auto result = compute_speedup({before}, {after});
  CHECK_FALSE(result.workload_consistent);
  CHECK(result.workload_mismatches ==
        std::vector<std::string>{"a: dtype fp32 of the baseline, fp16 of the candidate"});
}

TEST_CASE("many cases pair in no time to speak of and long lists are cut in messages") {
  std::vector<TimedCase> baseline;
  std::vector<TimedCase> candidate;
  for (int i = 0; i < 20'000; ++i) {
    baseline.push_back(make(fmt::format("case {}", i), 2));
    candidate.push_back(make(fmt::format("case {}", 19'999 - i), 1));
  }
  CHECK(compute_speedup(baseline, candidate).speedup == 2);
  candidate.resize(10);
  CHECK(compute_speedup(baseline, candidate).problem.size() < 300);
}

TEST_CASE("cases survive the way through a perf file") {
  TimedCase full = make("yes", 0.1);
  full.shape = R"([[1,2],{"a":"1e+22","b":"x: y"}])";
  full.params =
      canonical_json(
          R"({"eps": 1e-05, "big": 1e+22, "n": -3, "t": true, "z": null, "s": "0x1f \u00fc \ud83d\ude00"})")
          .value();
  full.dtype = "1_000";
  full.benchmark_fallback_reason = "no graph: \"x\"\nline";
  full.method_disputed = true;
  TimedCase invalid = make("test_case_1", -1);
  invalid.synthetic_id = true;
  invalid.problem = "time_ms is negative, a task's marker for an error";
  TimedCase absent = make("b", 0);
  absent.problem = "no time is reported";
  TimedCase rate = make("c", 1e-7);
  rate.inverse_rate = true;
  const std::vector<TimedCase> cases{full, invalid, absent, rate};
  const auto again = read_perf_yaml(write_perf_yaml(cases), "perf.yaml");
  REQUIRE(again);
  REQUIRE(again->size() == cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    CHECK((*again)[i] == cases[i]);
  }
  CHECK(read_perf_yaml(write_perf_yaml({}), "perf.yaml")->empty());
}

TEST_CASE("perf files of v0.2 are read as they are") {
  const auto cases = read_perf_yaml(R"(test_cases:
- test_case_id: test_case_0
  execution_time_ms: 1.0e-05
  shape:
  - 128
  - 64
  params:
    m: 1
    dtype: fp16
- test_case_id: b
  execution_time_ms: 0.0
)",
                                    "baseline_perf.yaml");
  REQUIRE(cases);
  CHECK((*cases)[0].time_ms == 1e-5);
  CHECK((*cases)[0].shape == "[128,64]");
  CHECK((*cases)[0].params == R"({"dtype":"fp16","m":1})");
  CHECK_FALSE((*cases)[1].is_valid());
  for (const char* bad :
       {"test_cases: 3\n", "- a\n", "test_cases:\n- x\n", "test_cases:\n- {execution_time_ms: fast}\n"}) {
    CAPTURE(bad);
    CHECK_FALSE(read_perf_yaml(bad, "f"));
  }
}

TEST_SUITE_END();

}  // namespace arena
