#include "coordinator/run_plan.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace arena {

namespace {

CatalogTask task(const std::string& name) {
  CatalogTask task;
  task.name = name;
  return task;
}

RunRecord record(std::vector<PlannedTask> tasks) {
  RunRecord record;
  record.config.agent.template_name = "nop";
  record.tasks = std::move(tasks);
  return record;
}

std::string error_of(const std::vector<CatalogTask>& tasks) {
  const auto plan = make_run_plan(tasks, "");
  REQUIRE_FALSE(plan);
  CHECK(plan.error().code == ErrorCode::invalid_input);
  return plan.error().message;
}

}  // namespace

TEST_SUITE_BEGIN("run_plan");

TEST_CASE("a plan numbers what runs, and says why the rest does not") {
  std::vector<CatalogTask> tasks{task("a"), task("b"), task("c"), task("d"), task("e"), task("f")};
  tasks[1].spec.platform.required_arch = {"gfx950"};
  tasks[2].problem = "c/config.yaml:3: task_type: required";
  tasks[2].spec.platform.skip = true;  // nothing of a broken configuration counts
  tasks[3].spec.unsupported = "schema version 2 cannot be run yet";
  tasks[4].spec.platform.required_arch = {"gfx942"};
  tasks[5].warnings = {"f/config.yaml:1: x: unknown key"};
  const RunPlan plan = make_run_plan(tasks, "gfx942").value();
  REQUIRE(plan.tasks.size() == 4);
  CHECK(plan.tasks[0].name == "a");
  CHECK(plan.tasks[0].index == 1);
  CHECK(plan.tasks[1].name == "c");
  CHECK(plan.tasks[3].name == "f");
  CHECK(plan.tasks[3].index == 4);
  CHECK(plan.problems.at("c") == "c/config.yaml:3: task_type: required");
  REQUIRE(plan.skipped.size() == 2);
  CHECK(plan.skipped[0].reason == "needs gfx950, here is gfx942");
  CHECK(plan.skipped[1].reason == "schema version 2 cannot be run yet");
  CHECK(plan.warnings == tasks[5].warnings);

  CHECK(format_plan(plan) ==
        "run        1  a\n"
        "fail       2  c  c/config.yaml:3: task_type: required\n"
        "run        3  e\n"
        "run        4  f\n"
        "skip          b  needs gfx950, here is gfx942\n"
        "skip          d  schema version 2 cannot be run yet\n"
        "3 to run, 1 with a broken configuration (will fail), 2 skipped\n");
  const auto json = nlohmann::json::parse(format_plan_json(plan));
  CHECK(json["tasks"].size() == 4);
  CHECK(json["tasks"][1]["problem"] == plan.problems.at("c"));
  CHECK(json["skipped"][0]["name"] == "b");
  CHECK(json["warnings"].size() == 1);
}

TEST_CASE("two names that become one on disk, or one too long for it, are refused") {
  CHECK(contains(error_of({task("a/b_c"), task("a_b/c")}),
                 "tasks 'a/b_c' and 'a_b/c' would both be called 'a_b_c'"));
  CHECK(contains(error_of({task("a/x y"), task("a/x#y")}), "would both be called"));
  CHECK(contains(error_of({task(std::string(201, 'x'))}), "too long"));
  CHECK(make_run_plan({task(std::string(200, 'x'))}, ""));
  // A task that is skipped gets no name on disk.
  std::vector<CatalogTask> tasks{task("a/b"), task("a_b")};
  tasks[1].spec.platform.skip = true;
  CHECK(make_run_plan(tasks, ""));
}

TEST_CASE("nothing has changed when nothing has") {
  const RunRecord before = record({{1, "a", "d1", "s1"}, {2, "b", "", ""}});
  RunRecord now = record({{1, "a", "d1", "other times"}, {2, "b", "", ""}});
  now.config.log_directory = "elsewhere";
  now.config.max_attempts = 9;
  const PlanComparison comparison = compare_plans(before, now);
  CHECK_FALSE(comparison.is_refused());
  CHECK(comparison.describe().empty());
  CHECK(comparison.added.empty());
  CHECK(comparison.repaired.empty());
}

TEST_CASE("changed settings are shown as a diff and refused") {
  const RunRecord before = record({});
  RunRecord now = record({});
  now.config.agent.model = "m";
  now.config.compile_timeout = std::chrono::seconds(5);
  now.architecture = "gfx942";
  const PlanComparison comparison = compare_plans(before, now);
  CHECK(comparison.is_refused());
  CHECK(comparison.config == std::vector<std::string>{"+ agent.model: m",
                                                      "- architecture: ", "+ architecture: gfx942",
                                                      "- compile_timeout: 3600", "+ compile_timeout: 5"});
  CHECK(contains(comparison.describe(), "configuration  + agent.model: m\n"));
}

TEST_CASE("changed and missing tasks are refused, added and repaired ones are accepted") {
  const RunRecord before =
      record({{1, "a", "d1", ""}, {2, "b", "d2", ""}, {5, "c", "d3", ""}, {4, "broken", "", ""}});
  const RunRecord now = record({{1, "0new", "d9", ""},
                                {2, "a", "d1", ""},
                                {3, "b", "changed", ""},
                                {4, "broken", "d4", ""},
                                {5, "znew", "", ""}});
  const PlanComparison comparison = compare_plans(before, now);
  CHECK(comparison.is_refused());
  CHECK(comparison.changed == std::vector<std::string>{"b"});
  CHECK(comparison.removed == std::vector<std::string>{"c"});
  REQUIRE(comparison.added.size() == 2);
  CHECK(comparison.added[0] == PlannedTask{6, "0new", "d9", ""});
  CHECK(comparison.added[1] == PlannedTask{7, "znew", "", ""});
  REQUIRE(comparison.repaired.size() == 1);
  CHECK(comparison.repaired[0] == PlannedTask{4, "broken", "d4", ""});
  CHECK(comparison.describe() ==
        "changed task   b\nmissing task   c\nadded task     0new\nadded task     znew\nrepaired task  "
        "broken\n");
  CHECK_FALSE(compare_plans(record({{1, "a", "d1", ""}}), record({{1, "0", "d", ""}, {2, "a", "d1", ""}}))
                  .is_refused());
}

TEST_CASE("a task whose configuration broke since is a changed task") {
  CHECK(compare_plans(record({{1, "a", "d1", ""}}), record({{1, "a", "", ""}})).changed ==
        std::vector<std::string>{"a"});
}

TEST_SUITE_END();

}  // namespace arena
