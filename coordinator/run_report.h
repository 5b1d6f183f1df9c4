#pragma once
// The report of a run as numbers: every planned task is a row, also one without a result, and counts in every
// total with score 0. Pure: no disk and no clock, so a run in progress, a finished one and one of v0.2 go the
// same way. Times are milliseconds, speedups ratios, rates per cent.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/run_record.h"
#include "model/score.h"
#include "model/task_result.h"
#include "os/clock.h"

namespace arena {

// Where a planned task is. `lost`: in none of the four directories (set aside in corrupt/, or deleted by
// hand).
enum class RowState { pending, running, done, failed, lost };
std::string_view name_of(RowState state);

struct ReportRow {
  std::int64_t index = 0;  // in the plan, from 1; 0: v0.2 left no descriptor
  std::string task_name;
  std::string workspace;  // name of its directory: v0.2's reports are sorted by it
  RowState state = RowState::pending;
  std::shared_ptr<const TaskResult> result;  // of a task that is done
  std::optional<CauseClass> cause;           // how the last attempt ended
  std::string cause_message;
  std::int64_t attempt = 0;         // of the last claim; 0: never claimed
  std::string worker_id;            // of the last claim
  std::optional<WallTime> started;  // the last claim
  std::optional<WallTime> ended;
};

struct RunReportInput {
  std::string run_name;  // run_<timestamp>[_suffix]
  std::string run_id;    // empty: a run of v0.2
  std::string agent = "unknown";
  std::string target_gpu = "unknown";
  ScoreFormula formula = ScoreFormula::points;
  std::vector<ReportRow> rows;
  std::vector<SkippedTask> skipped;   // not planned: they are in no total
  std::vector<std::string> warnings;  // what could not be read, for the person who asked for the report
  // Completes a row from its files; empty if the rows are complete. Called once a row, on any thread.
  std::function<void(ReportRow&)> complete = nullptr;
};

struct ScoredRow {
  ReportRow row;
  bool has_result = false;
  std::string task_type;  // what stands before the first '/'
  double score = 0;
  std::optional<double> speedup;  // as reported, whatever the verdict
  bool compiled = false;
  bool correct = false;           // compiled as well
  std::string no_speedup_reason;  // of a correct one without a speedup
};

// Totals of the whole run or of one task type. Numbers over no speedups at all are 0, as v0.2 writes them:
// look at valid_speedups before believing them.
struct GroupStats {
  std::int64_t tasks = 0;
  std::int64_t without_result = 0;
  double total_score = 0;
  double average_score = 0;
  std::int64_t compiled = 0;
  std::int64_t correct = 0;
  std::int64_t faster = 0;          // correct with a speedup > 1
  std::int64_t valid_speedups = 0;  // correct with a speedup > 0; the numbers below are over these
  double average_speedup = 0, median_speedup = 0, deviation = 0, p25 = 0, p75 = 0, p90 = 0;
  double rate(std::int64_t count) const {
    return tasks == 0 ? 0 : static_cast<double>(count) / static_cast<double>(tasks) * 100;
  }
};

struct RunReport {
  RunReportInput about;         // its rows moved to `rows`
  std::vector<ScoredRow> rows;  // sorted by workspace name
  GroupStats overall;
  std::map<std::string, GroupStats> task_types;
  std::optional<std::size_t> best, worst;  // rows with the largest and the smallest valid speedup
};

RunReport make_run_report(RunReportInput input);

// The same without holding more than a few results at a time: each row is completed, given to `sink` in the
// report's order, a block at a time, and loses its result then. Stops at the first error of `sink`.
using RowSink = std::function<Status(const RunReportInput& about, const std::vector<ScoredRow>& rows)>;
Result<RunReport> make_run_report(RunReportInput input, const RowSink& sink);

// Why a row has no result, in one line: "infra_error: worker 0.1 was lost", "pending", "running since attempt
// 2".
std::string explain_missing_result(const ReportRow& row);

}  // namespace arena
