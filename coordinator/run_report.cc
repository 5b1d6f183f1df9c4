#include "coordinator/run_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "model/stats.h"

namespace arena {

namespace {

ScoredRow score_row(ReportRow row, ScoreFormula formula) {
  ScoredRow scored;
  scored.task_type = row.task_name.substr(0, row.task_name.find('/'));
  if (row.result) {
    const TaskResult& result = *row.result;
    scored.score = result.score ? *result.score : compute_score(formula, result);
    scored.speedup = counted_speedup(result);
    scored.correct = result.pass_compilation && result.pass_correctness;
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
    if (!row->has_result()) ++stats.without_result;
    if (row->has_result() && row->row.result->pass_compilation) ++stats.compiled;
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
  std::vector<ReportRow> rows = std::move(input.rows);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ReportRow& a, const ReportRow& b) { return a.workspace < b.workspace; });
  report.rows.reserve(rows.size());
  for (ReportRow& row : rows) report.rows.push_back(score_row(std::move(row), input.formula));
  report.about = std::move(input);
  report.about.rows.clear();

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
  return report;
}

}  // namespace arena
