#include <doctest/doctest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/sealed_text.h"
#include "base/text.h"
#include "coordinator/report_files.h"
#include "coordinator/report_input.h"
#include "fakes/failing_file_system.h"
#include "fakes/memory_file_system.h"
#include "model/event.h"
#include "model/task_descriptor.h"
#include "model/yaml.h"

namespace arena {

namespace {

const fs::path kRun = "/w/workspace_MI300_command/run_20260617_101500_x";
constexpr const char* kRunId = "0123456789abcdef";

std::string jsonl_of(const RunReport& report) { return render_results_jsonl(report.about, report.rows); }

// As the program does it, with the results at hand.
Status write_all(FileSystem& disk, const QueueLayout& layout, const RunReport& report) {
  ReportWriter writer(disk, layout);
  ARENA_TRY(writer.begin());
  ARENA_TRY(writer.add(report.about, report.rows));
  return writer.finish(report);
}

std::string summary_csv(const RunReport& report) {
  MemoryFileSystem disk;
  const QueueLayout layout(kRun);
  REQUIRE(write_all(disk, layout, report));
  return disk.read(layout.reports() / "overall_summary.csv").value();
}

// A run of tasks on a disk in memory, put into whatever state a test asks for.
class TestRun {
 public:
  TestRun() : layout_(kRun) {
    for (const QueueState state : kQueueStates) must(make_directories(disk_, layout_.state_directory(state)));
    must(make_directories(disk_, layout_.events_directory()));
    record_.run_id = kRunId;
    record_.run_name = layout_.run_name();
    record_.created_at = "2026-06-17T10:15:00.000Z";
    record_.arena_version = "0.1.0";
    record_.tasks_directory = "/p/tasks";
    record_.launcher = "local";
    record_.config.agent.template_name = "oracle";
    record_.config.target_gpu_model = "MI300";
    record_.config.tasks = {"all"};
    record_.config_digest = std::string(64, 'c');
  }

  static void must(const Status& status) {
    if (!status) FAIL(status.error().message);
  }
  void write(const fs::path& file, const std::string& text) {
    must(make_directories(disk_, file.parent_path()));
    must(publish(disk_, file, text, Sync::no, Replace::yes));
  }

  // Adds a task to the plan and its descriptor to `state`; returns its index.
  std::int64_t add(const std::string& task, std::optional<QueueState> state,
                   std::optional<CauseClass> cause = {}, const std::string& message = "",
                   const std::string& result_digest = "") {
    const auto index = static_cast<std::int64_t>(record_.tasks.size()) + 1;
    record_.tasks.push_back({index, task, std::string(64, 'd'), std::string(64, 'e')});
    if (!state) return index;
    TaskDescriptor descriptor;
    descriptor.index = index;
    descriptor.total_tasks = 9;
    descriptor.task_name = task;
    descriptor.task_config_dir = "/p/tasks/" + task + "/config.yaml";
    descriptor.workspace_path = layout_.workspace(task).string();
    descriptor.run_id = kRunId;
    descriptor.cause = cause;
    descriptor.cause_message = message;
    descriptor.result_digest = result_digest;
    if (*state != QueueState::pending) {
      descriptor.attempt = 1;
      descriptor.claimed_by = "0.1";
      descriptor.claimed_at = "2026-06-17T10:15:00.000Z";
    }
    const EntryName name{*state == QueueState::pending ? "" : "0.1", index, slug_of(task)};
    write(layout_.entry(*state, name), write_descriptor(descriptor));
    return index;
  }
  void add_done(const std::string& task, double speedup, const std::string& run_id = kRunId) {
    const std::string text = write_task_result(result_of(task, speedup, run_id));
    write(layout_.task_result(task), text);
    add(task, QueueState::done, CauseClass::completed, "", std::string(stated_seal(text)));
  }
  static TaskResult result_of(const std::string& task, double speedup, const std::string& run_id = kRunId) {
    TaskResult result;
    result.task_name = task;
    result.pass_compilation = true;
    result.pass_correctness = true;
    result.base_execution_time = speedup;
    result.best_optimized_execution_time = 1;
    result.speedup_ratio = speedup;
    result.score = 120 + 100 * speedup;
    result.score_formula = "points";
    result.run_id = run_id;
    result.attempt = 1;
    result.worker_id = "0.1";
    result.durations_ms = {{"agent", 1500}};
    return result;
  }
  void event(const std::string& kind, const std::string& time, const std::string& task, std::int64_t attempt,
             const std::string& cause = "") {
    Event event;
    event.time = "2026-06-17T" + time + "Z";
    event.kind = kind;
    event.writer = "0.1";
    event.task = task;
    event.attempt = attempt;
    event.cause = cause;
    must(append_event(event));
  }
  Status append_event(const Event& event) {
    return disk_.append(layout_.events(event.writer), write_event(event), Sync::no);
  }

  RunReport report() {
    write(layout_.run_record(), write_run_record(record_));
    auto input = load_report_input(disk_, layout_);
    if (!input) FAIL(input.error().message);
    return make_run_report(std::move(*input));
  }

  MemoryFileSystem disk_;
  QueueLayout layout_;
  RunRecord record_;
};

const ScoredRow& row_of(const RunReport& report, const std::string& task) {
  for (const ScoredRow& row : report.rows) {
    if (row.row.task_name == task) return row;
  }
  FAIL("no row for " << task);
  return report.rows.front();
}

std::vector<std::string> lines_of(const std::string& text) { return split(text, "\n"); }

FailingFileSystem::Fault fault_at(std::size_t call, ErrorCode code) {
  FailingFileSystem::Fault fault;
  fault.call = call;
  fault.code = code;
  return fault;
}

std::string expected(const std::string& name) {
  RealFileSystem disk;
  return disk.read(fs::path(ARENA_TEST_DATA) / "reports/expected" / name).value();
}

}  // namespace

TEST_SUITE_BEGIN("run_report");

TEST_CASE("a run of v0.2 gives the reports that v0.2's rules give, to the byte") {
  RealFileSystem disk;
  const QueueLayout layout(fs::path(ARENA_TEST_DATA) /
                           "reports/workspace_MI250_my_agent/run_20260102_030405_own");
  auto input = load_report_input(disk, layout);
  REQUIRE(input);
  CHECK(input->warnings.empty());
  const RunReport report = make_run_report(std::move(*input));
  CHECK(summary_csv(report) == expected("overall_summary.csv"));
  CHECK(render_breakdown_json(report) == expected("task_type_breakdown.json"));
  CHECK(render_overall_report(report) == expected("overall_report.txt"));
}

TEST_CASE("our own run with the same results gives the same reports") {
  RealFileSystem disk;
  const QueueLayout foreign(fs::path(ARENA_TEST_DATA) /
                            "reports/workspace_MI250_my_agent/run_20260102_030405_own");
  auto input = load_report_input(disk, foreign);
  REQUIRE(input);
  TestRun run;
  run.record_.config.agent.template_name = "my_agent";
  run.record_.config.target_gpu_model = "MI250";
  // Other order, other index: only the names of the workspaces count.
  for (auto row = input->rows.rbegin(); row != input->rows.rend(); ++row) {
    TaskResult result = *row->result;
    result.run_id = kRunId;
    result.attempt = 1;
    run.write(run.layout_.task_result(result.task_name), write_task_result(result));
    run.add(result.task_name, QueueState::done, CauseClass::completed);
  }
  const RunReport report = run.report();
  CHECK(summary_csv(report) == expected("overall_summary.csv"));
  std::string breakdown = expected("task_type_breakdown.json");
  breakdown.replace(breakdown.find("20260102_030405_own"), 19, "20260617_101500_x");
  CHECK(render_breakdown_json(report) == breakdown);
}

TEST_CASE("numbers are written as Python writes them") {
  const std::pair<double, const char*> known[] = {{0, "0.0"},
                                                  {100, "100.0"},
                                                  {85.71428571428571, "85.71428571428571"},
                                                  {1e-4, "0.0001"},
                                                  {1e-5, "1e-05"},
                                                  {123456.789, "123456.789"},
                                                  {1e15, "1000000000000000.0"},
                                                  {1e16, "1e+16"},
                                                  {1.5e300, "1.5e+300"},
                                                  {5e-324, "5e-324"},
                                                  {-0.1, "-0.1"},
                                                  {1.0 / 3, "0.3333333333333333"}};
  for (const auto& [value, text] : known) CHECK(python_float(value) == text);
}

TEST_CASE("a task without a result is a row with its cause and score 0 and counts in every total") {
  TestRun run;
  run.add_done("hip2hip/a", 2);
  run.add("hip2hip/b", QueueState::failed, CauseClass::infra_error,
          "worker 0.1 was lost,\nno attempt is left");
  const RunReport report = run.report();
  CHECK(report.overall.tasks == 2);
  CHECK(report.overall.without_result == 1);
  CHECK(report.overall.total_score == 320);
  CHECK(report.overall.average_score == 160);
  CHECK(report.overall.rate(report.overall.correct) == 50);
  CHECK(report.overall.average_speedup == 2);
  CHECK(report.overall.valid_speedups == 1);
  const auto csv = lines_of(summary_csv(report));
  REQUIRE(csv.size() == 3);
  CHECK(csv[2] ==
        "hip2hip/b,hip2hip,0.0000,0.0000,\"no result: infra_error: worker 0.1 was lost, no attempt is "
        "left\"\r");
  CHECK(contains(render_overall_report(report),
                 "FAIL     hip2hip/b                                Score:    0.0  Speedup: 0.00x\n"
                 "         Error: infra_error: worker 0.1 was lost, no attempt is left\n"));
  CHECK(contains(render_overall_report(report), "  Without Result:        1\n"));
  CHECK(nlohmann::json::parse(render_breakdown_json(report))["overall"]["without_result_count"] == 1);
}

TEST_CASE("a run without any valid speedup, or without any task, can be reported") {
  TestRun run;
  const RunReport empty = run.report();
  CHECK(nlohmann::json::parse(render_breakdown_json(empty))["overall"]["average_score"] == 0.0);
  CHECK(contains(render_overall_report(empty), "Total Tasks:           0"));
  run.add("a/b", QueueState::failed, CauseClass::task_error, "its config.yaml is broken");
  const RunReport report = run.report();
  CHECK(nlohmann::json::parse(render_breakdown_json(report))["task_types"]["a"]["valid_speedup_count"] == 0);
  CHECK_FALSE(contains(render_overall_report(report), "Best Speedup"));
}

TEST_CASE("a run in progress shows what waits, runs and is done") {
  TestRun run;
  run.add_done("t/done", 1.5);
  run.add("t/pending", QueueState::pending);
  run.add("t/again", QueueState::pending, CauseClass::quota, "the provider's limit is reached");
  run.add("t/running", QueueState::running);
  run.add("t/lost", std::nullopt);
  run.event("claim", "10:16:00.500", "t/running", 2);
  const RunReport report = run.report();
  CHECK(row_of(report, "t/done").row.state == RowState::done);
  CHECK(row_of(report, "t/pending").row.state == RowState::pending);
  CHECK(row_of(report, "t/lost").row.state == RowState::lost);
  const ReportRow& running = row_of(report, "t/running").row;
  CHECK(running.state == RowState::running);
  CHECK(running.attempt == 2);
  CHECK(running.worker_id == "0.1");
  CHECK(running.started);
  CHECK_FALSE(running.ended);
  CHECK(explain_missing_result(running) == "running");
  CHECK(explain_missing_result(row_of(report, "t/again").row) ==
        "pending, last attempt quota: the provider's limit is reached");
  CHECK(report.overall.tasks == 5);
}

TEST_CASE("a result counts only if it is whole and of this run, this task and this moment") {
  TestRun run;
  run.add_done("t/ours", 2);
  run.add_done("t/other_run", 2, "fedcba9876543210");
  run.add_done("t/cut", 2);
  const std::string text = run.disk_.read(run.layout_.task_result("t/cut")).value();
  run.write(run.layout_.task_result("t/cut"), text.substr(0, text.size() / 2));
  run.add_done("t/forged", 2);
  run.write(run.layout_.task_result("t/forged"), write_task_result(TestRun::result_of("t/forged", 999)));
  run.add("t/none", QueueState::done, CauseClass::completed);
  // Left by an attempt before: the task runs again.
  run.write(run.layout_.task_result("t/retried"), write_task_result(TestRun::result_of("t/retried", 3)));
  run.add("t/retried", QueueState::pending);
  const RunReport report = run.report();
  CHECK(row_of(report, "t/ours").has_result);
  for (const char* task : {"t/other_run", "t/cut", "t/forged", "t/none"}) {
    CAPTURE(task);
    CHECK_FALSE(row_of(report, task).has_result);
    CHECK(row_of(report, task).score == 0);
    CHECK_FALSE(row_of(report, task).row.cause_message.empty());
  }
  CHECK_FALSE(row_of(report, "t/retried").has_result);
  CHECK(contains(row_of(report, "t/forged").row.cause_message, "replaced"));
}

TEST_CASE("an entry seen in two states while it moves is one row, of the later state") {
  TestRun run;
  run.add_done("t/a", 2);
  run.write(run.layout_.entry(QueueState::running, {"0.1", 1, "t_a"}), "");
  const RunReport report = run.report();
  REQUIRE(report.rows.size() == 1);
  CHECK(report.rows[0].row.state == RowState::done);
}

TEST_CASE("tasks that a resume added are rows as well") {
  TestRun run;
  run.add_done("t/a", 2);
  run.report();  // writes run.yaml
  RunRecord second = run.record_;
  second.tasks.push_back({2, "t/b", std::string(64, 'd'), std::string(64, 'e')});
  run.write(run.layout_.run_record(2), write_run_record(second));
  auto input = load_report_input(run.disk_, run.layout_);
  REQUIRE(input);
  REQUIRE(input->rows.size() == 2);
  CHECK(input->rows[1].task_name == "t/b");
}

TEST_CASE("attempts take their times from the ledgers, the latest attempt wins") {
  TestRun run;
  run.add_done("t/a", 2);
  run.event("claim", "10:15:00.000", "t/a", 1);
  run.event("end", "10:15:10.000", "t/a", 1, "infra_error");
  run.event("claim", "10:16:00.250", "t/a", 2);
  run.event("end", "10:16:02.000", "t/a", 2, "completed");
  run.event("end", "10:17:00.000", "t/a", 1, "infra_error");  // a worker that woke late
  run.event("claim", "10:18:00.000", "t/a", 1);               // of a machine whose clock is ahead
  TestRun::must(run.disk_.append(run.layout_.events("0.1"), "{\"torn", Sync::no));
  const RunReport report = run.report();
  const auto line = nlohmann::json::parse(lines_of(jsonl_of(report)).at(0));
  CHECK(line["started_at"] == "2026-06-17T10:16:00.250Z");
  CHECK(line["ended_at"] == "2026-06-17T10:16:02.000Z");
  CHECK(line["duration_ms"] == 1750);
  CHECK(line["cause"] == "completed");
}

TEST_CASE("results.jsonl has one object per planned task, null with a reason for what was not measured") {
  TestRun run;
  run.add_done("t/a", 2);
  run.add("t/b", QueueState::failed, CauseClass::timed_out, "setup took longer than 60 s");
  run.add("t/c", QueueState::pending);
  const auto lines = lines_of(jsonl_of(run.report()));
  REQUIRE(lines.size() == 3);
  const auto a = nlohmann::json::parse(lines[0]);
  const auto b = nlohmann::json::parse(lines[1]);
  const auto c = nlohmann::json::parse(lines[2]);
  CHECK(a["speedup_ratio"] == 2.0);
  CHECK(a["score"] == 320.0);
  CHECK(a["score_formula"] == "points");
  CHECK(a["durations_ms"]["agent"] == 1500);
  CHECK(a["not_measured"]["valid_baseline_cases"].is_string());
  CHECK_FALSE(a["not_measured"].contains("speedup_ratio"));
  CHECK(b["state"] == "failed");
  CHECK(b["cause"] == "timed_out");
  CHECK(b["score"] == 0.0);
  CHECK(b["pass_compilation"].is_null());
  CHECK(b["not_measured"]["speedup_ratio"] == "no result: timed_out: setup took longer than 60 s");
  CHECK(c["cause"].is_null());
  CHECK(c["attempt"] == 0);
  for (const auto& line : {a, b, c}) {
    CHECK(line.size() == a.size());
    for (const auto& [key, value] : line.items()) {
      const bool may_be_null = contains(key, "message") || contains(key, "_at") || key == "cause" ||
                               key == "duration_ms" || key == "agent_outcome";
      if (!value.is_null() || may_be_null) continue;
      CAPTURE(key);
      CHECK(line["not_measured"].contains(key));
    }
  }
}

TEST_CASE("every key of a result file is in results.jsonl") {
  TestRun run;
  run.add_done("t/a", 2);
  const auto line = nlohmann::json::parse(lines_of(jsonl_of(run.report())).at(0));
  TaskResult result = TestRun::result_of("t/a", 2);
  result.speedup_calculation_error_message = "x";
  const YamlNode document = parse_yaml(write_task_result(result), "f").value();
  for (const YamlEntry& entry : document.entries) {
    if (entry.key == "schema_version") continue;
    CAPTURE(entry.key);
    CHECK(line.contains(entry.key == "agent" ? "agent_outcome" : entry.key));
  }
}

TEST_CASE("joblog.tsv lists what ended, in GNU parallel's columns") {
  TestRun run;
  run.add_done("t/a", 2);
  run.add("t/b", QueueState::failed, CauseClass::task_error, "x");
  run.add("t/c", QueueState::pending);
  run.event("claim", "10:15:00.000", "t/a", 1);
  run.event("end", "10:15:10.500", "t/a", 1, "completed");
  run.event("claim", "10:15:01.000", "t/b", 1);
  run.event("end", "10:15:02.000", "t/b", 1, "task_error");
  CHECK(render_joblog(run.report()) ==
        "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"
        "2\tworker_0.1\t1781691301.000\t     1.000\t0\t0\t1\t0\tt/b\n"
        "1\tworker_0.1\t1781691300.000\t    10.500\t0\t0\t0\t0\tt/a\n");
}

TEST_CASE("the terminal's table is aligned, and coloured only when asked") {
  TestRun run;
  run.add_done("t/a", 2);
  run.add("t/longer_name", QueueState::failed, CauseClass::agent_error, "no such program\x1B[31m");
  const std::string plain = render_terminal(run.report(), false);
  CHECK_FALSE(contains(plain, "\x1B"));
  const auto lines = lines_of(plain);
  CHECK(lines[0] == "task           state   correct  speedup    score");
  CHECK(lines[1] == "t/a            done    yes        2.00x  320.000");
  CHECK(contains(lines[2], "t/longer_name  failed  -              -    0.000  agent_error: no such program"));
  CHECK(contains(plain, "2 tasks: 1 done, 1 failed; 1 compiled, 1 correct, 1 faster"));
  CHECK(contains(render_terminal(run.report(), true), "\x1B[32m"));
}

TEST_CASE("v0.2 runs: tasks whose descriptor has no result are rows, unreadable results are named") {
  MemoryFileSystem disk;
  const QueueLayout layout(kRun);
  const auto write = [&](const fs::path& file, const std::string& text) {
    TestRun::must(make_directories(disk, file.parent_path()));
    TestRun::must(publish(disk, file, text, Sync::no, Replace::no));
  };
  write(kRun / "t_a_20260617_101500/task_result.yaml",
        "task_name: t/a\npass_compilation: true\npass_correctness: true\nbase_execution_time: "
        "2\nbest_optimized_execution_time: 1\n");
  write(kRun / "t_b_20260617_101500/task_result.yaml", "task_name: [\n");
  write(kRun / ".parallel/failed/worker_0__000003_t_c.yaml",
        "index: 3\ntotal_tasks: 3\ntask_name: t/c\ntask_config_dir: tasks/t/c/config.yaml\nworkspace_path: "
        "/x\nstatus: failed\nworker_id: 0\n");
  write(kRun / ".parallel/done/worker_0__000001_t_a.yaml",
        "index: 1\ntotal_tasks: 3\ntask_name: t/a\ntask_config_dir: tasks/t/a/config.yaml\nworkspace_path: "
        "/x\nstatus: done\nworker_id: 0\n");
  auto input = load_report_input(disk, layout);
  REQUIRE(input);
  CHECK(input->agent == "command");
  CHECK(input->target_gpu == "MI300");
  CHECK(input->warnings.size() == 1);
  const RunReport report = make_run_report(std::move(*input));
  REQUIRE(report.rows.size() == 3);
  CHECK(report.rows[0].score == 320);
  CHECK_FALSE(report.rows[1].has_result);
  CHECK(report.rows[2].row.state == RowState::failed);
}

TEST_CASE("a directory that is no run is an error that says so") {
  MemoryFileSystem disk;
  TestRun::must(make_directories(disk, kRun));
  CHECK(load_report_input(disk, QueueLayout(kRun)).error().code == ErrorCode::not_found);
  CHECK(load_report_input(disk, QueueLayout("/w/somewhere")).error().code == ErrorCode::invalid_input);
  TestRun run;
  run.write(run.layout_.run_record(), "run_id: x\n");
  CHECK(load_report_input(run.disk_, run.layout_).error().code == ErrorCode::corrupt);
}

TEST_CASE("whichever call fails, a report file is the old one or the new one, never half of it") {
  TestRun run;
  run.add_done("t/a", 2);
  const RunReport before = run.report();
  TestRun::must(write_all(run.disk_, run.layout_, before));
  const std::string old_text = run.disk_.read(run.layout_.reports() / "results.jsonl").value();
  run.add_done("t/b", 3);
  const RunReport after = run.report();
  FailingFileSystem disk(run.disk_);
  bool complete = false;
  for (std::size_t call = 1; !complete; ++call) {
    REQUIRE(call < 100);
    TestRun::must(write_all(run.disk_, run.layout_, before));
    disk.reset();
    disk.fail_at(fault_at(call, ErrorCode::no_space));
    const Status written = write_all(disk, run.layout_, after);
    complete = !disk.has_failed();
    CHECK(written.has_value() == complete);
    const std::string text = run.disk_.read(run.layout_.reports() / "results.jsonl").value();
    CHECK((text == old_text || text == jsonl_of(after)));
    CHECK(run.disk_.list(run.layout_.reports()).value().size() == 5);
  }
}

TEST_CASE(
    "whichever read fails, loading gives an error or rows for the whole plan, and no score from nowhere") {
  TestRun run;
  run.add_done("t/a", 2);
  run.add("t/b", QueueState::failed, CauseClass::task_error, "x");
  run.event("claim", "10:15:00.000", "t/a", 1);
  run.report();
  FailingFileSystem disk(run.disk_);
  for (std::size_t call = 1;; ++call) {
    REQUIRE(call < 100);
    disk.reset();
    disk.fail_at(fault_at(call, ErrorCode::io));
    auto input = load_report_input(disk, run.layout_);
    if (!disk.has_failed()) break;
    if (!input) continue;
    const RunReport report = make_run_report(std::move(*input));
    CHECK(report.overall.tasks == 2);
    CHECK((report.overall.total_score == 320 || row_of(report, "t/a").row.cause_message != ""));
  }
}

TEST_SUITE_END();

}  // namespace arena
