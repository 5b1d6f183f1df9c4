#include "coordinator/report_files.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace arena {

namespace {

const std::string kRule(80, '=');
constexpr const char* kSummary = "overall_summary.csv";
constexpr const char* kResults = "results.jsonl";

// RFC 4180 as Python's csv module applies it: quotes only where they are needed.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + '"';
}

std::string summary_of(const ScoredRow& row) {
  if (row.has_result) return std::string(trim(row.row.result->optimization_summary));
  return "no result: " + explain_missing_result(row.row);
}

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

using JsonLines = std::vector<std::pair<std::string, std::string>>;  // key and JSON value

JsonLines stats_lines(const GroupStats& stats, const char* count_key) {
  JsonLines lines;
  const auto count = [&](const char* key, std::int64_t value) {
    lines.emplace_back(key, fmt::format("{}", value));
  };
  const auto number = [&](const char* key, double value) { lines.emplace_back(key, python_float(value)); };
  count(count_key, stats.tasks);
  number("total_score", stats.total_score);
  number("average_score", stats.average_score);
  count("compilation_pass_count", stats.compiled);
  number("compilation_pass_rate", stats.rate(stats.compiled));
  count("correctness_pass_count", stats.correct);
  number("correctness_pass_rate", stats.rate(stats.correct));
  count("speedup_gt_1_count", stats.faster);
  number("speedup_gt_1_rate", stats.rate(stats.faster));
  number("average_speedup", stats.average_speedup);
  number("median_speedup", stats.median_speedup);
  number("std_dev_speedup", stats.deviation);
  number("p25_speedup", stats.p25);
  number("p75_speedup", stats.p75);
  number("p90_speedup", stats.p90);
  count("valid_speedup_count", stats.valid_speedups);
  if (stats.without_result > 0)
    count("without_result_count", stats.without_result);  // ours: v0.2 leaves such tasks out
  return lines;
}

std::string json_object(const JsonLines& lines, std::size_t depth) {
  if (lines.empty()) return "{}";
  std::string text = "{";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += fmt::format("{}\n{:{}}{}: {}", i == 0 ? "" : ",", "", 2 * depth + 2, json_text(lines[i].first),
                        lines[i].second);
  }
  return text + fmt::format("\n{:{}}}}", "", 2 * depth);
}

std::string run_timestamp(const RunReport& report) {
  const std::string& name = report.about.run_name;
  return name.substr(0, 4) == "run_" ? name.substr(4) : name;
}

std::string percentiles(const GroupStats& stats) {
  return fmt::format("{:.2f}x / {:.2f}x / {:.2f}x", stats.p25, stats.p75, stats.p90);
}

void add_task_type(std::string& text, const std::string& type, const GroupStats& stats) {
  text += fmt::format("  {} ({} tasks):\n", type, stats.tasks);
  text += fmt::format("    Average Speedup:     {:.2f}x\n", stats.average_speedup);
  text += fmt::format("    Median Speedup:      {:.2f}x\n", stats.median_speedup);
  text += fmt::format("    Std Dev Speedup:     {:.2f}x\n", stats.deviation);
  text += fmt::format("    P25/P75/P90 Speedup: {}\n", percentiles(stats));
  text += fmt::format("    Compilation Pass:     {}/{}\n", stats.compiled, stats.tasks);
  text += fmt::format("    Compilation Pass Rate: {:.1f}%\n", stats.rate(stats.compiled));
  text += fmt::format("    Correctness Pass:     {}/{}\n", stats.correct, stats.tasks);
  text += fmt::format("    Correctness Pass Rate: {:.1f}%\n", stats.rate(stats.correct));
  text += fmt::format("    Speedup > 1.0:        {}/{} ({:.1f}%)\n", stats.faster, stats.tasks,
                      stats.rate(stats.faster));
  if (stats.without_result > 0)
    text += fmt::format("    Without Result:       {}/{}\n", stats.without_result, stats.tasks);
  text += fmt::format("    Average Score:        {:.2f}\n\n", stats.average_score);
}

void add_task_details(std::string& text, const ScoredRow& row) {
  const char* status = row.correct ? "PASS" : row.compiled ? "PARTIAL" : "FAIL";
  text += fmt::format("{:<8} {:<40} Score: {:6.1f}  Speedup: {:.2f}x\n", status, row.row.task_name, row.score,
                      row.speedup.value_or(0));
  if (!row.has_result) text += fmt::format("         Error: {}\n", explain_missing_result(row.row));
}

}  // namespace

std::string python_float(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string render_summary_csv(const std::vector<ScoredRow>& rows) {
  std::string text;
  for (const ScoredRow& row : rows) {
    text += fmt::format("{},{},{:.4f},{:.4f},{}\r\n", csv_field(row.row.task_name), csv_field(row.task_type),
                        row.score, row.speedup.value_or(0), csv_field(summary_of(row)));
  }
  return text;
}

std::string render_breakdown_json(const RunReport& report) {
  JsonLines types;
  for (const auto& [type, stats] : report.task_types)
    types.emplace_back(type, json_object(stats_lines(stats, "count"), 2));
  return json_object({{"run_timestamp", json_text(run_timestamp(report))},
                      {"agent", json_text(report.about.agent)},
                      {"target_gpu", json_text(report.about.target_gpu)},
                      {"overall", json_object(stats_lines(report.overall, "total_tasks"), 1)},
                      {"task_types", json_object(types, 1)}},
                     0);
}

std::string render_overall_report(const RunReport& report) {
  const GroupStats& all = report.overall;
  std::string text = fmt::format("{0}\nAgentKernelArena Task Results Report\n{0}\n", kRule);
  text += fmt::format("Run: {}\nAgent: {}\nTarget GPU: {}\n{}\n", run_timestamp(report), report.about.agent,
                      report.about.target_gpu, kRule);
  text += "OVERALL STATISTICS:\n";
  text += fmt::format("  Total Tasks:           {}\n", all.tasks);
  if (all.without_result > 0) text += fmt::format("  Without Result:        {}\n", all.without_result);
  text += fmt::format("  Total Score:           {:.2f}\n", all.total_score);
  text += fmt::format("  Average Score:         {:.2f}\n", all.average_score);
  text += fmt::format("Compilation:\n  Pass Count:            {}/{}\n  Pass Rate:             {:.1f}%\n",
                      all.compiled, all.tasks, all.rate(all.compiled));
  text += fmt::format("Correctness:\n  Pass Count:            {}/{}\n  Pass Rate:             {:.1f}%\n",
                      all.correct, all.tasks, all.rate(all.correct));
  text += fmt::format("Performance:\n  Speedup > 1.0 Count:   {}/{}\n  Speedup > 1.0 Rate:    {:.1f}%\n",
                      all.faster, all.tasks, all.rate(all.faster));
  text += fmt::format("  Average Speedup:       {:.2f}x\n", all.average_speedup);
  text += fmt::format("  Median Speedup:        {:.2f}x\n", all.median_speedup);
  text += fmt::format("  Std Dev Speedup:       {:.2f}x\n", all.deviation);
  text += fmt::format("  P25/P75/P90 Speedup:   {}\n", percentiles(all));
  text += fmt::format("  Valid Speedup Count:   {}\n\n", all.valid_speedups);

  text += "TASK TYPE BREAKDOWN:\n\n";
  for (const auto& [type, stats] : report.task_types) add_task_type(text, type, stats);

  text += "TOTAL PERFORMANCE SUMMARY:\n";
  text += fmt::format("  Overall Average Speedup:  {:.2f}x\n", all.average_speedup);
  text += fmt::format("  Tasks with Speedup > 1.0: {}/{} ({:.1f}%)\n", all.faster, all.tasks,
                      all.rate(all.faster));
  const auto add_extreme = [&](const char* label, std::optional<std::size_t> index) {
    if (!index) return;
    const ScoredRow& row = report.rows[*index];
    text += fmt::format("  {:<25}{:.2f}x (task: {})\n", label, *row.speedup, row.row.task_name);
  };
  add_extreme("Best Speedup:", report.best);
  add_extreme("Worst Speedup:", report.worst);

  text += fmt::format("\nTASK DETAILS:\n{}\n", std::string(80, '-'));
  for (const ScoredRow& row : report.rows) add_task_details(text, row);
  return text + kRule + "\n";
}

ReportWriter::ReportWriter(FileSystem& disk, const QueueLayout& layout)
    : disk_(disk),
      directory_(layout.reports()),
      summary_(temporary_name(directory_ / kSummary)),
      results_(temporary_name(directory_ / kResults)) {}

ReportWriter::~ReportWriter() {
  if (summary_.empty()) return;  // published
  static_cast<void>(disk_.remove(summary_));
  static_cast<void>(disk_.remove(results_));
}

Status ReportWriter::begin() {
  ARENA_TRY(make_directories(disk_, directory_));
  ARENA_TRY(disk_.create(summary_, "Task Name,Task Type,Score,Speedup,Optimization_summary\r\n", Sync::no));
  return disk_.create(results_, "", Sync::no);
}

Status ReportWriter::add(const RunReportInput& about, const std::vector<ScoredRow>& rows) {
  ARENA_TRY(disk_.append(summary_, render_summary_csv(rows), Sync::no));
  return disk_.append(results_, render_results_jsonl(about, rows), Sync::no);
}

Status ReportWriter::finish(const RunReport& report) {
  const std::pair<const char*, std::string (*)(const RunReport&)> files[] = {
      {"task_type_breakdown.json", render_breakdown_json},
      {"overall_report.txt", render_overall_report},
      {"joblog.tsv", render_joblog}};
  // Reports can be made again at any time: they need not survive a power cut. The newest of them tells
  // whether they are: it comes last.
  for (const auto& [name, render] : files) {
    ARENA_TRY(publish(disk_, directory_ / name, render(report), Sync::no, Replace::yes));
  }
  ARENA_TRY(disk_.rename(summary_, directory_ / kSummary, Replace::yes));
  ARENA_TRY(disk_.rename(results_, directory_ / kResults, Replace::yes));
  summary_.clear();
  return {};
}

}  // namespace arena
