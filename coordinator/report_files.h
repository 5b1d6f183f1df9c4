#pragma once
// The files of <run>/reports/ and the table on the terminal, as texts made from a RunReport.
// overall_summary.csv, task_type_breakdown.json and overall_report.txt are v0.2's, byte for byte when every
// planned task has a result; docs/results.md describes all of them.
#include <string>

#include "coordinator/run_report.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"

namespace arena {

std::string render_breakdown_json(const RunReport& report);  // task_type_breakdown.json
std::string render_overall_report(const RunReport& report);  // overall_report.txt
std::string render_joblog(
    const RunReport& report);  // joblog.tsv: one line per task that ended, as GNU parallel
std::string render_terminal(const RunReport& report, bool color);

// Writes the five files: those with what the results say in full while the rows come, the others at the end.
// Each is published whole and replaces an earlier one; without finish() nothing is.
class ReportWriter {
 public:
  ReportWriter(FileSystem& disk, const QueueLayout& layout);
  ~ReportWriter();
  ReportWriter(const ReportWriter&) = delete;
  ReportWriter& operator=(const ReportWriter&) = delete;

  Status begin();
  // Rows in the report's order, with their results; all cores share the work.
  Status add(const RunReportInput& about, const std::vector<ScoredRow>& rows);
  Status finish(const RunReport& report);

 private:
  FileSystem& disk_;
  fs::path directory_;
  fs::path summary_;  // temporary names
  fs::path results_;
};

// Lines of overall_summary.csv, without its header, and of results.jsonl: one object per planned task.
std::string render_summary_csv(const std::vector<ScoredRow>& rows);
std::string render_results_jsonl(const RunReportInput& about, const std::vector<ScoredRow>& rows);

// A double as Python's repr and json write it: shortest text that reads back the same, 100.0, 1e-05, 1e+16.
std::string python_float(double value);

}  // namespace arena
