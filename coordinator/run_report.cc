#include "coordinator/run_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "coordinator/parallel.h"
#include "model/stats.h"

namespace arena {

namespace {

constexpr std::size_t kBlock = 256;  // rows whose results are in memory at a time

std::string why_no_speedup(const TaskResult& result) {
  if (result.speedup_calculation_error_message) return *result.speedup_calculation_error_message;
  const auto reason = result.not_measured.find("speedup_ratio");
  return reason == result.not_measured.end() ? "not measured" : reason->second;
}

ScoredRow score_row(ReportRow row, ScoreFormula formula) {
  ScoredRow scored;
  scored.task_type = row.task_name.substr(0, row.task_name.find('/'));
  scored.has_result = row.result != nullptr;
  if (row.result) {
    const TaskResult& result = *row.result;
    scored.score = result.score ? *result.score : compute_score(formula, result);
    scored.speedup = counted_speedup(result);
    scored.compiled = result.pass_compilation;
    scored.correct = result.pass_compilation && result.pass_correctness;
    if (scored.correct && !scored.speedup) scored.no_speedup_reason = why_no_speedup(result);
  }
  scored.row = std::move(row);
  return scored;
}

// Sums go from the first row to the last, in plain doubles: v0.2's last digit depends on the order.
GroupStats summarize(const std::vector<const ScoredRow*>& rows) {
  GroupStats stats;
  std::vector<double> speedups;
  for (const ScoredRow* row : rows) {
    ++stats.tasks;
    stats.total_score += row->score;
    if (!row->has_result) ++stats.without_result;
    if (row->compiled) ++stats.compiled;
    if (!row->correct) continue;
    ++stats.correct;
    if (!row->speedup) continue;
    speedups.push_back(*row->speedup);
    if (*row->speedup > 1) ++stats.faster;
  }
  if (stats.tasks > 0) stats.average_score = stats.total_score / static_cast<double>(stats.tasks);
  stats.valid_speedups = static_cast<std::int64_t>(speedups.size());
  stats.average_speedup = mean(speedups).value_or(0);
  stats.median_speedup = median(speedups).value_or(0);
  stats.deviation = sample_standard_deviation(speedups).value_or(0);
  stats.p25 = exclusive_percentile(speedups, 25).value_or(0);
  stats.p75 = exclusive_percentile(speedups, 75).value_or(0);
  stats.p90 = exclusive_percentile(speedups, 90).value_or(0);
  return stats;
}

void summarize(RunReport& report) {
  std::vector<const ScoredRow*> all;
  std::map<std::string, std::vector<const ScoredRow*>> by_type;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const ScoredRow& row = report.rows[i];
    all.push_back(&row);
    by_type[row.task_type].push_back(&row);
    if (!row.correct || !row.speedup) continue;
    if (!report.best || *row.speedup > *report.rows[*report.best].speedup) report.best = i;
    if (!report.worst || *row.speedup < *report.rows[*report.worst].speedup) report.worst = i;
  }
  report.overall = summarize(all);
  for (const auto& [type, members] : by_type) report.task_types[type] = summarize(members);
}

}  // namespace

std::string_view name_of(RowState state) {
  switch (state) {
    case RowState::pending:
      return "pending";
    case RowState::running:
      return "running";
    case RowState::done:
      return "done";
    case RowState::failed:
      return "failed";
    case RowState::lost:
      return "lost";
  }
  return "lost";
}

std::string explain_missing_result(const ReportRow& row) {
  std::string text(row.cause ? name_of(*row.cause) : name_of(row.state));
  // An attempt that was given back is over, but the task is not.
  if (row.cause && row.state != RowState::failed && row.state != RowState::done) {
    text = fmt::format("{}, last attempt {}", name_of(row.state), text);
  }
  if (!row.cause_message.empty()) text += ": " + row.cause_message;
  text = to_printable_utf8(text);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

RunReport make_run_report(RunReportInput input) {
  RunReport report;
  const RowSink keep = [&](const RunReportInput&, const std::vector<ScoredRow>& rows) {
    report.rows.insert(report.rows.end(), rows.begin(), rows.end());
    return Status();
  };
  auto made = make_run_report(std::move(input), keep);
  ARENA_ASSERT(made);  // `keep` does not fail
  made->rows = std::move(report.rows);
  return std::move(*made);
}

Result<RunReport> make_run_report(RunReportInput input, const RowSink& sink) {
  RunReport report;
  std::vector<ReportRow> rows = std::move(input.rows);
  input.rows.clear();
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ReportRow& a, const ReportRow& b) { return a.workspace < b.workspace; });
  report.rows.reserve(rows.size());
  std::vector<ScoredRow> block;
  for (std::size_t begin = 0; begin < rows.size(); begin += block.size()) {
    block.assign(std::min(kBlock, rows.size() - begin), {});
    for_each_in_parallel(block.size(), [&](std::size_t i) {
      if (input.complete) input.complete(rows[begin + i]);
      block[i] = score_row(std::move(rows[begin + i]), input.formula);
    });
    ARENA_TRY(sink(input, block));
    for (ScoredRow& row : block) {
      row.row.result.reset();
      report.rows.push_back(std::move(row));
    }
  }
  report.about = std::move(input);
  summarize(report);
  return report;
}

}  // namespace arena
