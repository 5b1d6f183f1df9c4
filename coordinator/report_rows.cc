// The reports that have one line per task: results.jsonl, joblog.tsv and the terminal's table.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "coordinator/parallel.h"
#include "coordinator/report_files.h"

namespace arena {

namespace {

using Json = nlohmann::ordered_json;
using Milliseconds = std::chrono::milliseconds;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::optional<std::int64_t> duration_ms(const ReportRow& row) {
  if (!row.started || !row.ended) return std::nullopt;
  return std::chrono::duration_cast<Milliseconds>(*row.ended - *row.started).count();
}

// Every number that is null has its reason, for a task without a result the same one.
void add_result(Json& line, const ScoredRow& scored) {
  static const TaskResult kNothing;
  const TaskResult& result = scored.has_result ? *scored.row.result : kNothing;
  Json reasons = Json::object();
  const auto measured = [&](const char* key, const auto& value) {
    line[key] = or_null(value);
    if (value) return;
    const auto reason = result.not_measured.find(key);
    reasons[key] = !scored.has_result                    ? "no result: " + explain_missing_result(scored.row)
                   : reason != result.not_measured.end() ? reason->second
                                                         : "no reason was recorded";
  };
  using Verdict = std::optional<bool>;
  measured("pass_compilation", scored.has_result ? Verdict(result.pass_compilation) : Verdict());
  line["compilation_error_message"] = or_null(result.compilation_error_message);
  measured("pass_correctness", scored.has_result ? Verdict(result.pass_correctness) : Verdict());
  line["correctness_error_message"] = or_null(result.correctness_error_message);
  measured("base_execution_time", result.base_execution_time);
  measured("best_optimized_execution_time", result.best_optimized_execution_time);
  measured("speedup_ratio", result.speedup_ratio);
  line["baseline_benchmark_methods"] = result.baseline_benchmark_methods;
  line["optimized_benchmark_methods"] = result.optimized_benchmark_methods;
  measured("benchmark_method_consistent", result.benchmark_method_consistent);
  measured("valid_baseline_cases", result.valid_baseline_cases);
  measured("valid_optimized_cases", result.valid_optimized_cases);
  line["speedup_calculation_error_message"] = or_null(result.speedup_calculation_error_message);
  line["optimization_summary"] = result.optimization_summary;
  line["benchmark_method_mismatches"] = result.benchmark_method_mismatches;
  measured("workload_consistent", result.workload_consistent);
  line["workload_mismatches"] = result.workload_mismatches;
  line["not_measured"] = std::move(reasons);
  line["task_digest"] = result.task_digest;
  line["device"] = result.device;
  line["device_facts"] = result.device_facts;
  line["telemetry"] = result.telemetry;
  line["throttling"] = result.throttling;
  if (scored.has_result && !result.run_id.empty()) {
    const AgentOutcome& agent = result.agent;
    line["agent_outcome"] = {{"end", agent.end},
                             {"ok", agent.ok},
                             {"cost_usd", or_null(agent.cost_usd)},
                             {"tokens", or_null(agent.tokens)},
                             {"duration_ms", agent.duration_ms},
                             {"from_earlier_attempt", agent.from_earlier_attempt}};
  } else {
    line["agent_outcome"] = nullptr;
  }
  line["durations_ms"] = result.durations_ms;
  line["proofs"] = result.proofs;
  line["changed_files"] = result.changed_files;
  line["ignored_changes"] = result.ignored_changes;
}

Json result_line(const RunReportInput& about, const ScoredRow& scored) {
  const ReportRow& row = scored.row;
  const auto time = [](std::optional<WallTime> when) {
    return when ? Json(format_utc(*when)) : Json(nullptr);
  };
  const auto score_formula = scored.has_result && !row.result->score_formula.empty()
                                 ? row.result->score_formula
                                 : std::string(name_of(about.formula));
  Json line;
  line["run"] = about.run_name;
  line["run_id"] = about.run_id;
  line["agent"] = about.agent;
  line["target_gpu"] = about.target_gpu;
  line["index"] = row.index > 0 ? Json(row.index) : Json(nullptr);
  line["task_name"] = row.task_name;
  line["task_type"] = scored.task_type;
  line["state"] = name_of(row.state);
  line["cause"] = row.cause ? Json(name_of(*row.cause)) : Json(nullptr);
  line["cause_message"] = row.cause_message;
  line["attempt"] = about.run_id.empty() ? Json(nullptr) : Json(row.attempt);  // v0.2 does not count them
  line["worker_id"] = row.worker_id;
  line["started_at"] = time(row.started);
  line["ended_at"] = time(row.ended);
  line["duration_ms"] = or_null(duration_ms(row));
  line["score"] = scored.score;
  line["score_formula"] = score_formula;
  add_result(line, scored);
  return line;
}

// Columns of the terminal's table, the text ones as wide as their longest entry.
struct TableLine {
  std::string task, state, correct, speedup, score, cause;
};

TableLine table_line(const ScoredRow& scored) {
  TableLine line;
  line.task = to_printable_utf8(scored.row.task_name);
  line.state = name_of(scored.row.state);
  line.correct = !scored.has_result ? "-"
                 : scored.correct   ? "yes"
                 : scored.compiled  ? "no"
                                    : "does not compile";
  line.speedup = scored.speedup ? fmt::format("{:.2f}x", *scored.speedup) : "-";
  line.score = scored.row.state == RowState::pending || scored.row.state == RowState::running
                   ? "-"
                   : fmt::format("{:.3f}", scored.score);
  if (!scored.has_result) {
    if (scored.row.cause || !scored.row.cause_message.empty())
      line.cause = explain_missing_result(scored.row);
  } else if (!scored.no_speedup_reason.empty()) {
    line.cause = "no speedup: " + scored.no_speedup_reason;
    std::replace(line.cause.begin(), line.cause.end(), '\n', ' ');
  }
  return line;
}

std::string_view color_of(const ScoredRow& row) {
  if (row.row.state == RowState::pending || row.row.state == RowState::running) return "\x1B[2m";
  if (!row.has_result) return "\x1B[31m";
  return row.correct ? "\x1B[32m" : "\x1B[33m";
}

}  // namespace

std::string render_results_jsonl(const RunReportInput& about, const std::vector<ScoredRow>& rows) {
  std::vector<std::string> lines(rows.size());
  for_each_in_parallel(rows.size(), [&](std::size_t i) {
    lines[i] = result_line(about, rows[i]).dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  });
  return fmt::format("{}", fmt::join(lines, ""));
}

std::string render_joblog(const RunReport& report) {
  std::string text = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";
  std::vector<const ReportRow*> ended;
  for (const ScoredRow& scored : report.rows) {
    const bool has_ended = scored.row.state == RowState::done || scored.row.state == RowState::failed;
    if (has_ended && scored.row.started && scored.row.ended) ended.push_back(&scored.row);
  }
  std::stable_sort(ended.begin(), ended.end(),
                   [](const ReportRow* a, const ReportRow* b) { return *a->ended < *b->ended; });
  const auto seconds = [](WallTime::duration time) { return std::chrono::duration<double>(time).count(); };
  for (const ReportRow* row : ended) {
    text += fmt::format("{}\t{}\t{:10.3f}\t{:10.3f}\t0\t0\t{}\t0\t{}\n", row->index,
                        row->worker_id.empty() ? ":" : "worker_" + row->worker_id,
                        seconds(row->started->time_since_epoch()), seconds(*row->ended - *row->started),
                        row->state == RowState::done ? 0 : 1, row->task_name);
  }
  return text;
}

std::string render_terminal(const RunReport& report, bool color) {
  std::vector<TableLine> lines;
  TableLine width{std::string("task"), "state", "correct", "speedup", "score", ""};
  const auto widen = [](std::string& widest, const std::string& text) {
    widest = text.size() > widest.size() ? text : widest;
  };
  for (const ScoredRow& row : report.rows) {
    lines.push_back(table_line(row));
    widen(width.task, lines.back().task);
    widen(width.state, lines.back().state);
    widen(width.correct, lines.back().correct);
    widen(width.speedup, lines.back().speedup);
    widen(width.score, lines.back().score);
  }
  const auto print = [&](const TableLine& line) {
    std::string text =
        fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>{}}  {:>{}}  {}", line.task, width.task.size(), line.state,
                    width.state.size(), line.correct, width.correct.size(), line.speedup,
                    width.speedup.size(), line.score, width.score.size(), line.cause);
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::string text = print({"task", "state", "correct", "speedup", "score", ""}) + "\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += color ? fmt::format("{}{}\x1B[0m\n", color_of(report.rows[i]), print(lines[i]))
                  : print(lines[i]) + "\n";
  }
  const GroupStats& all = report.overall;
  const auto count = [&](RowState state) {
    return std::count_if(report.rows.begin(), report.rows.end(),
                         [&](const ScoredRow& row) { return row.row.state == state; });
  };
  text += fmt::format("\n{} tasks: {} done, {} failed", all.tasks, count(RowState::done),
                      count(RowState::failed));
  for (const RowState state : {RowState::running, RowState::pending, RowState::lost}) {
    if (count(state) > 0) text += fmt::format(", {} {}", count(state), name_of(state));
  }
  text += fmt::format("; {} compiled, {} correct, {} faster\n", all.compiled, all.correct, all.faster);
  text += fmt::format("score: {:.3f} in all, {:.3f} a task ({})", all.total_score, all.average_score,
                      name_of(report.about.formula));
  if (all.valid_speedups > 0) {
    text += fmt::format("; speedup: {:.2f}x mean, {:.2f}x median of {}", all.average_speedup,
                        all.median_speedup, all.valid_speedups);
  }
  return text + "\n";
}

}  // namespace arena
