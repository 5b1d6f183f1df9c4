#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/sealed_text.h"
#include "base/text.h"
#include "model/task_result.h"
#include "model/yaml.h"

namespace arena {

namespace {

TaskResult full_result() {
  TaskResult result;
  result.task_name = "hip2hip/gpumode/GELU";
  result.pass_compilation = true;
  result.pass_correctness = true;
  result.correctness_error_message = "max diff 0.5, \"quoted\": yes\n  indented\n\ttab \xFF\x1B[1m\r\n\n";
  result.base_execution_time = 0.0023133296781064927;
  result.best_optimized_execution_time = 1e-22;
  result.speedup_ratio = 1.0 / 3;
  result.baseline_benchmark_methods = {"cuda_graph"};
  result.optimized_benchmark_methods = {"cuda_graph", "yes"};
  result.benchmark_method_consistent = true;
  result.valid_baseline_cases = 3;
  result.valid_optimized_cases = 3;
  result.optimization_summary = "007";
  result.workload_consistent = false;
  result.workload_mismatches = {"a: shape [1] of the baseline, [2] of the candidate"};
  result.score = 120 + 100.0 / 3;
  result.score_formula = "points";
  result.run_id = "0123456789012345";
  result.attempt = 2;
  result.worker_id = "0.1";
  result.task_digest = std::string(64, 'a');
  result.device = "cpu slot 0";
  result.agent = {"exit code 0", true, "done", "a-model", "1.2", 0.25, 12'345, 60'000, true};
  result.durations_ms = {{"agent", 60'000}, {"baseline", 1234}};
  result.proofs = {{"agent", "no process left: pid namespace empty"}};
  result.changed_files = {"src/gelu.hip"};
  result.ignored_changes = {"scripts/test \"x\".py", "12:30:45"};
  return result;
}

bool same(const TaskResult& a, const TaskResult& b) { return write_task_result(a) == write_task_result(b); }

std::vector<std::string> keys_of(const std::string& text) {
  std::vector<std::string> keys;
  const YamlNode document = parse_yaml(text, "f").value();
  for (const YamlEntry& entry : document.entries) keys.push_back(entry.key);
  return keys;
}

}  // namespace

TEST_SUITE_BEGIN("task_result");

TEST_CASE("cause names are found again and nothing else is") {
  for (const char* name :
       {"completed", "task_error", "agent_error", "infra_error", "timed_out", "quota", "cancelled"}) {
    REQUIRE(cause_class_from(name));
    CHECK(name_of(*cause_class_from(name)) == name);
  }
  CHECK_FALSE(cause_class_from("done"));
}

TEST_CASE("a result is read back as it was written") {
  const TaskResult result = full_result();
  const auto again = read_task_result(write_task_result(result), "task_result.yaml");
  REQUIRE(again);
  CHECK(same(*again, result));
  CHECK(again->task_name == result.task_name);
  CHECK(again->base_execution_time == result.base_execution_time);
  CHECK(again->best_optimized_execution_time == result.best_optimized_execution_time);
  CHECK(again->speedup_ratio == result.speedup_ratio);
  CHECK(again->score == result.score);
  CHECK(again->valid_baseline_cases == 3);
  CHECK(again->benchmark_method_consistent == true);
  CHECK(again->workload_consistent == false);
  CHECK(again->optimized_benchmark_methods == result.optimized_benchmark_methods);
  CHECK(again->optimization_summary == "007");
  CHECK(again->agent.tokens == 12'345);
  CHECK(again->agent.cost_usd == 0.25);
  CHECK(again->agent.ok);
  CHECK(again->agent.from_earlier_attempt);
  CHECK(again->durations_ms == result.durations_ms);
  CHECK(again->proofs == result.proofs);
  CHECK(again->ignored_changes == result.ignored_changes);
  CHECK(again->not_measured.empty());
  CHECK_FALSE(again->compilation_error_message);
  REQUIRE(again->correctness_error_message);
  CHECK(contains(*again->correctness_error_message, "max diff 0.5, \"quoted\": yes\n  indented\n\ttab "));
}

TEST_CASE("the keys of v0.2 come first, in its order") {
  TaskResult result = full_result();
  result.speedup_calculation_error_message = "why";
  const std::vector<std::string> expected{"task_name",
                                          "pass_compilation",
                                          "compilation_error_message",
                                          "pass_correctness",
                                          "correctness_error_message",
                                          "base_execution_time",
                                          "best_optimized_execution_time",
                                          "speedup_ratio",
                                          "baseline_benchmark_methods",
                                          "optimized_benchmark_methods",
                                          "benchmark_method_consistent",
                                          "valid_baseline_cases",
                                          "valid_optimized_cases",
                                          "speedup_calculation_error_message",
                                          "optimization_summary",
                                          "score"};
  const auto keys = keys_of(write_task_result(result));
  REQUIRE(keys.size() > expected.size());
  CHECK(std::vector<std::string>(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(expected.size())) ==
        expected);
}

TEST_CASE("what was not measured is absent and has a reason, never null and never 0") {
  TaskResult result;
  result.task_name = "a/b";
  result.run_id = "r";
  result.not_measured["speedup_ratio"] = "the baseline does not compile";
  result.not_measured["task_name"] = "not absent at all";
  result.base_execution_time = std::numeric_limits<double>::quiet_NaN();
  const std::string text = write_task_result(result);
  const auto document = parse_yaml(text, "f").value();
  const YamlNode* reasons = document.find("not_measured");
  REQUIRE(reasons != nullptr);
  for (const char* key : {"base_execution_time", "best_optimized_execution_time", "speedup_ratio",
                          "benchmark_method_consistent", "valid_baseline_cases", "valid_optimized_cases",
                          "score", "workload_consistent"}) {
    CAPTURE(key);
    CHECK(document.find(key) == nullptr);
    CHECK(reasons->find(key) != nullptr);
  }
  CHECK(reasons->find("speedup_ratio")->scalar == "the baseline does not compile");
  CHECK(reasons->find("task_name") == nullptr);
  for (const YamlEntry& entry : document.entries) {
    if (entry.key != "compilation_error_message" && entry.key != "correctness_error_message") {
      CAPTURE(entry.key);
      CHECK_FALSE(entry.value.is_null());
    }
  }
}

TEST_CASE("a result cut at any byte is not a result") {
  const std::string text = write_task_result(full_result());
  REQUIRE(is_result_of(text, "0123456789012345", "hip2hip/gpumode/GELU", 2));
  for (std::size_t length = 0; length < text.size(); ++length) {
    const std::string_view cut = std::string_view(text).substr(0, length);
    CAPTURE(length);
    CHECK(read_task_result(cut, "f").error().code == ErrorCode::corrupt);
    CHECK_FALSE(is_result_of(cut, "0123456789012345", "hip2hip/gpumode/GELU", 2));
  }
}

TEST_CASE("a result with any byte changed is not a result") {
  const std::string text = write_task_result(full_result());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 0x04);
    CAPTURE(i);
    CHECK_FALSE(is_result_of(changed, "0123456789012345", "hip2hip/gpumode/GELU", 2));
  }
}

TEST_CASE("a whole result of another run, task or attempt is not this one") {
  const std::string text = write_task_result(full_result());
  CHECK_FALSE(is_result_of(text, "0123456789012346", "hip2hip/gpumode/GELU", 2));
  CHECK_FALSE(is_result_of(text, "0123456789012345", "hip2hip/gpumode/SiLU", 2));
  CHECK_FALSE(is_result_of(text, "0123456789012345", "hip2hip/gpumode/GELU", 1));
}

TEST_CASE("a sealed text that lacks a required key, or has it ill-typed, is refused with its line") {
  const auto body = std::string(unseal(write_task_result(full_result()), "f").value());
  const auto without = [&](std::string_view key) {
    std::string changed;
    for (std::size_t begin = 0; begin < body.size();) {
      const std::size_t end = body.find('\n', begin) + 1;
      const std::string_view line = std::string_view(body).substr(begin, end - begin);
      if (line.substr(0, key.size() + 1) != std::string(key) + ":") changed += line;
      begin = end;
    }
    return seal(changed);
  };
  for (const char* key :
       {"task_name", "pass_compilation", "pass_correctness", "run_id", "attempt", "schema_version"}) {
    CAPTURE(key);
    const auto result = read_task_result(without(key), "task_result.yaml");
    REQUIRE_FALSE(result);
    CHECK(contains(result.error().message, key));
  }
  const auto ill_typed = read_task_result(seal(body + "extra: 1\n"), "f");
  CHECK(ill_typed);  // a key of a later version with the same schema
  std::string newer = body;
  newer.replace(newer.find("schema_version: 1"), 17, "schema_version: 2");
  CHECK(read_task_result(seal(newer), "f").error().code == ErrorCode::unsupported);
  std::string wrong = body;
  wrong.replace(wrong.find("attempt: 2"), 10, "attempt: x");
  CHECK(contains(read_task_result(seal(wrong), "f").error().message, "f:"));
}

TEST_CASE("results of v0.2 are read without a seal, with whatever keys they have") {
  const auto result = read_foreign_task_result(R"(task_name: hip2hip/others/ball_query
pass_compilation: true
compilation_error_message: null
pass_correctness: false
correctness_error_message: 'Correctness test failed

  STDOUT:

  max diff 0.5, "quoted", comma

  '
base_execution_time: 3
best_optimized_execution_time: 1.0e-05
speedup_ratio: .nan
optimization_summary: 'a summary, with "quotes" and

  a newline'
score: 20.0
)",
                                               "task_result.yaml");
  REQUIRE(result);
  CHECK(result->pass_compilation);
  CHECK_FALSE(result->pass_correctness);
  CHECK(result->base_execution_time == 3);
  CHECK(result->best_optimized_execution_time == 1e-5);
  CHECK_FALSE(result->speedup_ratio);
  CHECK(result->not_measured.count("speedup_ratio") == 1);
  CHECK(result->optimization_summary == "a summary, with \"quotes\" and\na newline");
  CHECK(result->score == 20);
  CHECK_FALSE(result->benchmark_method_consistent);
  CHECK(read_foreign_task_result("task_name: a\nspeedup_ratio: null\n", "f")->speedup_ratio == std::nullopt);
}

TEST_CASE("results of v0.3 may hold mappings in their lists") {
  const auto result = read_foreign_task_result(R"(task_name: a/b
pass_compilation: true
pass_correctness: true
benchmark_method_mismatches:
- {test_case_id: x, reason: ambiguous_mixed_aggregate}
workload_mismatches: []
pass_tool_gate: false
agent_execution: {status: COMPLETED}
)",
                                               "f");
  REQUIRE(result);
  CHECK(result->benchmark_method_mismatches ==
        std::vector<std::string>{"test_case_id: x, reason: ambiguous_mixed_aggregate"});
  CHECK(result->pass_tool_gate == false);
}

TEST_CASE("a foreign result must still be a result") {
  for (const char* bad :
       {"", "null\n", "[]\n", "pass_compilation: true\n", "task_name: a\npass_compilation: \"true\"\n",
        "task_name: a\nspeedup_ratio: fast\n", "task_name: ~\n", "task_name: a\ntask_name: b\n"}) {
    CAPTURE(bad);
    CHECK_FALSE(read_foreign_task_result(bad, "f"));
  }
}

TEST_SUITE_END();

}  // namespace arena
