#include "coordinator/catalog.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "base/text.h"
#include "coordinator/task_digests.h"
#include "fakes/temp_directory.h"

namespace arena {

namespace {

using Names = std::vector<std::string>;

constexpr const char* kConfig =
    "task_type: cpp2cpp\nsource_file_path: a.cpp\ncorrectness_command: check\nperformance_command: time\n";

// A tasks directory that is filled by the tests.
class TaskTree {
 public:
  const fs::path& root() const { return scratch_.path(); }

  void add_file(const std::string& name, const std::string& text) const {
    fs::create_directories((root() / name).parent_path());
    std::ofstream((root() / name).string()) << text;
  }
  void add(const std::string& name, const std::string& config = kConfig) const {
    add_file(name + "/config.yaml", config);
  }

  std::vector<CatalogTask> load(const Names& selectors) const {
    auto tasks = load_catalog(root(), selectors);
    if (!tasks) FAIL(tasks.error().message);
    return *tasks;
  }
  Names names(const Names& selectors) const {
    Names found;
    for (const CatalogTask& task : load(selectors)) found.push_back(task.name);
    return found;
  }
  std::string error(const Names& selectors) const {
    const auto tasks = load_catalog(root(), selectors);
    REQUIRE_FALSE(tasks);
    CHECK(tasks.error().code == ErrorCode::invalid_input);
    return tasks.error().message;
  }

 private:
  TempDirectory scratch_;
};

}  // namespace

TEST_SUITE_BEGIN("catalog");

TEST_CASE("tasks are found at any depth and sorted by name, whatever the selectors' order") {
  const TaskTree tree;
  for (const char* name : {"b/x", "a/deep/er/y", "a/x", "a/x2", "c"}) tree.add(name);
  tree.add_file("a/README.md", "no task");
  CHECK(tree.names({"all"}) == Names{"a/deep/er/y", "a/x", "a/x2", "b/x", "c"});
  CHECK(tree.names({"b", "a/x"}) == Names{"a/x", "b/x"});
  CHECK(tree.names({"a/x", "a", "a/x"}) == Names{"a/deep/er/y", "a/x", "a/x2"});
  CHECK(tree.names({"b/x", "all"}).size() == 5);
  CHECK(tree.load({"c"})[0].spec.source_files == Names{"a.cpp"});
  CHECK(tree.load({"c"})[0].directory == tree.root() / "c");
}

TEST_CASE("selectors may have slashes to spare and wildcards as v0.2's") {
  const TaskTree tree;
  for (const char* name : {"a/x1", "a/x2", "a/y/x3", "b/x1", "[odd]/t"}) tree.add(name);
  CHECK(tree.names({"a/"}) == Names{"a/x1", "a/x2", "a/y/x3"});
  CHECK(tree.names({"./a//x1/"}) == Names{"a/x1"});
  CHECK(tree.names({"a/x*"}) == Names{"a/x1", "a/x2"});
  CHECK(tree.names({"*/x1"}) == Names{"a/x1", "b/x1"});
  CHECK(tree.names({"?/x[2-9]"}) == Names{"a/x2"});
  CHECK(tree.names({"**/x3"}) == Names{"a/y/x3"});
  CHECK(tree.names({"a/**"}) == Names{"a/x1", "a/x2", "a/y/x3"});
  CHECK(tree.names({"[[]odd]"}) == Names{"[odd]/t"});
}

TEST_CASE("a selector that picks nothing is an error that names what is near") {
  const TaskTree tree;
  for (const char* name : {"hip2hip/gpumode/GELU", "hip2hip/gpumode/SiLU", "cpp2cpp/matmul"}) tree.add(name);
  CHECK(contains(tree.error({"hip2hp"}), "no task matches 'hip2hp'"));
  CHECK(contains(tree.error({"hip2hp"}), "did you mean hip2hip?"));
  CHECK(contains(tree.error({"gelu"}), "did you mean hip2hip/gpumode/GELU?"));
  CHECK(contains(tree.error({"cpp2cpp/matmul", "nothing/like/this"}), "'nothing/like/this'"));
  CHECK_FALSE(contains(tree.error({"zzzzzzzzz"}), "did you mean"));
  for (const char* bad : {"", "/etc", "../x", "a/../../x"}) {
    CAPTURE(bad);
    CHECK(contains(tree.error({bad}), "is not a path below the tasks directory"));
  }
  CHECK(contains(load_catalog(tree.root() / "nope", {"all"}).error().message, "does not exist"));
  const TaskTree empty;
  CHECK(contains(empty.error({"all"}), "there is no task below"));
}

TEST_CASE("one broken configuration spoils one task") {
  const TaskTree tree;
  tree.add("a");
  tree.add("b", "task_type: [\n");
  tree.add("c", "task_type: x\n");
  tree.add("d", std::string(kConfig) + "notes: mine\n");
  fs::create_directories(tree.root() / "e" / "config.yaml");  // no file: not a task
  const auto tasks = tree.load({"all"});
  REQUIRE(tasks.size() == 4);
  CHECK(tasks[0].problem.empty());
  CHECK(contains(tasks[1].problem, "b/config.yaml:2: "));
  CHECK(contains(tasks[2].problem, "c/config.yaml:1: correctness_command: required"));
  CHECK(tasks[3].problem.empty());
  REQUIRE(tasks[3].warnings.size() == 1);
  CHECK(contains(tasks[3].warnings[0], "d/config.yaml:5: notes: unknown key"));
}

TEST_CASE("hidden directories, clones and whatever lies inside a task hold no tasks") {
  const TaskTree tree;
  tree.add("a");
  for (const char* name : {"a/clone/sub", "a/solution", ".git/x", ".cache/y", "b/.git/z"}) tree.add(name);
  tree.add("b/c");
  tree.add_file("config.yaml", kConfig);  // the tasks directory itself
  CHECK(tree.names({"all"}) == Names{"a", "b/c"});
  CHECK(tree.names({"*"}) == Names{"a", "b/c"});
  for (const char* inside : {"a/clone", "a/solution", ".git", "b/.git/z", "a/**/sub"}) {
    CAPTURE(inside);
    CHECK(contains(tree.error({inside}), "no task matches"));
  }
}

TEST_CASE("links to directories are followed, but not in a circle") {
  const TaskTree tree;
  const TaskTree elsewhere;
  elsewhere.add("s/t");
  tree.add("a/x");
  fs::create_directory_symlink(tree.root() / "a", tree.root() / "a" / "self");
  fs::create_directory_symlink(tree.root(), tree.root() / "a" / "up");
  fs::create_directory_symlink(elsewhere.root(), tree.root() / "shared");
  fs::create_directory_symlink(tree.root() / "missing", tree.root() / "dangling");
  CHECK(tree.names({"all"}) == Names{"a/x", "shared/s/t"});
  CHECK(tree.names({"shared"}) == Names{"shared/s/t"});
  CHECK(contains(tree.error({"a/self/x"}), "no task matches"));
  CHECK(contains(tree.error({"dangling"}), "no task matches"));
}

TEST_CASE(
    "names with blanks, hashes and other letters are tasks; control characters and broken UTF-8 fail the "
    "task") {
  const TaskTree tree;
  const Names good{"a b/c#d",
                   "gr\xC3\xBC\xC3\x9F"
                   "e",
                   "quote'\"s"};
  for (const std::string& name : good) tree.add(name);
  CHECK(tree.names({"all"}) == good);
  tree.add("bad\nname");
  tree.add("bad\xFFname");
  int broken = 0;
  for (const CatalogTask& task : tree.load({"all"})) {
    if (task.problem.empty()) continue;
    ++broken;
    CHECK(contains(task.problem, "rename it"));
    CHECK(task.name.find('\n') == std::string::npos);
  }
  CHECK(broken == 2);
}

TEST_CASE("many tasks are loaded by several threads as by one") {
  const TaskTree tree;
  for (int i = 0; i < 300; ++i) tree.add("t/" + std::to_string(1000 + i), i % 7 == 0 ? "broken: [" : kConfig);
  const auto tasks = tree.load({"all"});
  REQUIRE(tasks.size() == 300);
  for (int i = 0; i < 300; ++i) {
    CHECK(tasks[static_cast<std::size_t>(i)].name == "t/" + std::to_string(1000 + i));
    CHECK(tasks[static_cast<std::size_t>(i)].problem.empty() == (i % 7 != 0));
  }
}

TEST_CASE(
    "digests notice every change, and what was planned before is not read again while it is untouched") {
  const TaskTree tree;
  tree.add("a");
  tree.add("b");
  tree.add("c", "broken: [");
  tree.add_file("a/solution/a.cpp", "fast");
  const auto plan_of = [&](const std::vector<PlannedTask>& known) {
    RunPlan plan = make_run_plan(load_catalog(tree.root(), {"all"}, known).value(), "").value();
    add_task_digests(plan, tree.root());
    return plan;
  };
  const RunPlan first = plan_of({});
  CHECK(first.tasks[0].digest.size() == 64);
  CHECK(first.tasks[0].digest != first.tasks[1].digest);
  CHECK(first.tasks[2].digest.empty());  // what cannot run has no digest
  CHECK(plan_of({}).tasks == first.tasks);
  CHECK(plan_of(first.tasks).tasks == first.tasks);
  CHECK(plan_of(first.tasks).problems == first.problems);

  std::vector<PlannedTask> known = first.tasks;
  known[0].digest = "from the record";
  CHECK(plan_of(known).tasks[0].digest == "from the record");
  tree.add_file("a/solution/a.cpp", "faster");
  const RunPlan changed = plan_of(known);
  CHECK(changed.tasks[0].digest != "from the record");
  CHECK(changed.tasks[0].digest != first.tasks[0].digest);
  CHECK(changed.tasks[1] == first.tasks[1]);

  tree.add("b", "broken: [");
  CHECK(plan_of(known).problems.count("b") == 1);
  tree.add("b");
  fs::create_symlink("/etc/hostname", tree.root() / "b" / "out");
  const RunPlan refused = plan_of(known);
  CHECK(refused.tasks[1].digest.empty());
  CHECK(contains(refused.problems.at("b"), "out"));
}

TEST_SUITE_END();

}  // namespace arena
