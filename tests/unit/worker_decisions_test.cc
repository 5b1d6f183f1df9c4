// What the worker decides without touching anything: takeovers, causes, stubs, interpreters, names.
#include <doctest/doctest.h>

#include "worker/attempt_outcome.h"
#include "worker/evaluation.h"
#include "worker/harness_guard.h"
#include "worker/kernel_stub.h"
#include "worker/options.h"
#include "worker/workspace.h"

namespace arena {

TEST_SUITE_BEGIN("worker");

namespace {

TreeEntry file(std::uint64_t size) { return {TreeEntry::Kind::file, size, ""}; }
TreeEntry link(const std::string& target) { return {TreeEntry::Kind::link, 0, target}; }
using Names = std::vector<std::string>;

bool never(const std::string&) { return false; }
bool always(const std::string&) { return true; }

}  // namespace

TEST_CASE("protected names are those of v0.2, in any directory") {
  for (const char* path :
       {"scripts/run.py", "a/script/x", "test/x", "a/b/tests/c.py", "config.yaml", "a/config.yml",
        "conftest.py", "a/conftest.py", "performance_utils_pytest.py", "x_test.py", "a/x_test.cpp",
        "x_test.cu", "x_test.hip", "kernel_harness.py", "tests"}) {
    CHECK_MESSAGE(is_protected_path(path), path);
  }
  for (const char* path : {"kernel.py", "test_kernel.py", "testing/x.py", "src/scripts.py", "config.yaml.txt",
                           "harness.py", "x_test.c", "latest/x", "my_config.yaml"}) {
    CHECK_MESSAGE(!is_protected_path(path), path);
  }
}

TEST_CASE("only editable files are taken over") {
  const TreeListing pristine{{"src/k.cc", file(5)}, {"test/main.cc", file(9)}, {"src/other.cc", file(3)}};
  const TreeListing workspace{
      {"src/k.cc", file(6)}, {"test/main.cc", file(1)}, {"src/other.cc", file(4)}, {"notes.md", file(1)}};
  const Takeover plan = plan_takeover(pristine, workspace, {"src/k.cc"}, always);
  CHECK(plan.changed == Names{"src/k.cc"});
  CHECK(plan.removed.empty());
  CHECK(plan.ignored == Names{"notes.md", "src/other.cc", "test/main.cc"});
}

TEST_CASE("an untouched tree has nothing to take over") {
  const TreeListing tree{{"a", file(1)}, {"l", link("a")}};
  for (const Names& editable : {Names{}, Names{"a"}}) {
    const Takeover plan = plan_takeover(tree, tree, editable, never);
    CHECK(plan.changed.empty());
    CHECK(plan.removed.empty());
    CHECK(plan.ignored.empty());
  }
}

TEST_CASE("a file of equal size is compared by its contents") {
  const TreeListing tree{{"a", file(1)}, {"b", file(1)}};
  const auto differs = [](const std::string& path) { return path == "b"; };
  CHECK(plan_takeover(tree, tree, {}, differs).changed == Names{"b"});
}

TEST_CASE("an editable file that was deleted or replaced by a link is removed, the link never taken over") {
  const TreeListing pristine{{"a.cc", file(1)}, {"b.cc", file(1)}, {"c.cc", file(1)}};
  const TreeListing workspace{{"b.cc", link("/etc/passwd")}, {"c.cc", {TreeEntry::Kind::other, 0, ""}}};
  const Takeover plan = plan_takeover(pristine, workspace, {"a.cc", "b.cc", "c.cc"}, always);
  CHECK(plan.changed.empty());
  CHECK(plan.removed == Names{"a.cc", "b.cc", "c.cc"});
  CHECK(plan.ignored == Names{"b.cc", "c.cc"});
}

TEST_CASE("where the whole tree is the candidate, everything but protected files is taken over") {
  const TreeListing pristine{
      {"lib/k.hip", file(1)}, {"lib/old.h", file(1)}, {"scripts/run.py", file(1)}, {"tests/t.py", file(1)}};
  const TreeListing workspace{
      {"lib/k.hip", file(2)}, {"lib/new.h", file(1)}, {"scripts/run.py", file(2)}, {"conftest.py", file(1)}};
  const Takeover plan = plan_takeover(pristine, workspace, {}, always);
  CHECK(plan.changed == Names{"lib/k.hip", "lib/new.h"});
  CHECK(plan.removed == Names{"lib/old.h"});
  CHECK(plan.ignored == Names{"conftest.py", "scripts/run.py", "tests/t.py"});
}

TEST_CASE("a file cannot take the place of a directory that holds protected files") {
  const TreeListing pristine{{"pkg/tests/t.py", file(1)}, {"pkg/k.py", file(1)}};
  const TreeListing workspace{{"pkg", file(1)}};
  const Takeover plan = plan_takeover(pristine, workspace, {}, always);
  CHECK(plan.changed.empty());
  CHECK(plan.ignored == Names{"pkg", "pkg/tests/t.py"});
}

TEST_CASE("an editable directory covers what lies below it and nothing beside it") {
  const TreeListing workspace{{"src/a/x.cc", file(1)}, {"src/ab.cc", file(1)}};
  const Takeover plan = plan_takeover({}, workspace, {"src/a"}, always);
  CHECK(plan.changed == Names{"src/a/x.cc"});
  CHECK(plan.ignored == Names{"src/ab.cc"});
}

TEST_CASE("repository metadata, byte code and the solution are no candidate") {
  for (const char* path :
       {".git/config", "lib/.git", "a/__pycache__/k.pyc", "solution", "solution/src/k.cc"}) {
    CHECK_MESSAGE(is_ignored_path(path), path);
  }
  for (const char* path : {"src/solution/k.cc", "solutions", "git", ".gitignore"})
    CHECK_MESSAGE(!is_ignored_path(path), path);
}

TEST_CASE("every failure of every phase has its cause class") {
  using Phase = AttemptPhase;
  const auto cause = [](Phase phase, ErrorCode code) { return outcome_of_error(phase, {code, "why"}).cause; };
  for (const Phase phase :
       {Phase::setup, Phase::baseline, Phase::agent, Phase::evaluation, Phase::publication}) {
    CHECK(cause(phase, ErrorCode::cancelled) == CauseClass::cancelled);
    CHECK(cause(phase, ErrorCode::no_space) == CauseClass::infra_error);
    CHECK(cause(phase, ErrorCode::io) == CauseClass::infra_error);
    CHECK(cause(phase, ErrorCode::refused) == CauseClass::task_error);
  }
  CHECK(cause(Phase::setup, ErrorCode::timed_out) == CauseClass::timed_out);
  CHECK(cause(Phase::setup, ErrorCode::busy) == CauseClass::infra_error);
  for (const ErrorCode code : {ErrorCode::invalid_input, ErrorCode::not_found, ErrorCode::unsupported}) {
    CHECK(cause(Phase::setup, code) == CauseClass::task_error);
    CHECK(cause(Phase::baseline, code) == CauseClass::infra_error);
    CHECK(cause(Phase::agent, code) == CauseClass::agent_error);
    CHECK(cause(Phase::evaluation, code) == CauseClass::infra_error);
  }
  CHECK(outcome_of_error(Phase::evaluation, {ErrorCode::no_space, "x"}).disk_full);
  CHECK(outcome_of_error(Phase::agent, {ErrorCode::denied, "cannot start 'x'"}).message ==
        "agent: cannot start 'x'");
}

TEST_CASE("each cause leads to its state and costs what it should") {
  TaskDescriptor claimed;
  claimed.attempt = 2;
  claimed.claimed_by = "0.1";
  const AttemptLimits limits{3, 2};
  struct Row {
    AttemptOutcome outcome;
    std::int64_t attempt, evaluations;
    QueueState state;
    std::int64_t uncounted, evaluations_after;
  };
  const auto outcome = [](CauseClass cause, bool disk_full = false, bool kept = false) {
    AttemptOutcome made;
    made.cause = cause;
    made.disk_full = disk_full;
    made.candidate_kept = kept;
    return made;
  };
  const std::vector<Row> rows = {
      {outcome(CauseClass::completed), 2, 0, QueueState::done, 0, 0},
      {outcome(CauseClass::task_error), 1, 0, QueueState::failed, 0, 0},
      {outcome(CauseClass::agent_error), 1, 0, QueueState::failed, 0, 0},
      {outcome(CauseClass::timed_out), 1, 0, QueueState::failed, 0, 0},
      {outcome(CauseClass::infra_error), 2, 0, QueueState::pending, 0, 0},
      {outcome(CauseClass::infra_error), 3, 0, QueueState::failed, 0, 0},
      {outcome(CauseClass::quota), 3, 0, QueueState::pending, 1, 0},
      {outcome(CauseClass::cancelled), 3, 0, QueueState::pending, 1, 0},
      {outcome(CauseClass::infra_error, true), 3, 0, QueueState::pending, 1, 0},
      {outcome(CauseClass::infra_error, false, true), 3, 0, QueueState::pending, 1, 1},
      {outcome(CauseClass::infra_error, false, true), 3, 1, QueueState::failed, 1, 2},
      {outcome(CauseClass::infra_error, true, true), 3, 1, QueueState::pending, 1, 1},
      {outcome(CauseClass::completed, false, true), 3, 1, QueueState::done, 0, 1},
  };
  for (const Row& row : rows) {
    CAPTURE(name_of(row.outcome.cause));
    CAPTURE(row.attempt);
    claimed.attempt = row.attempt;
    claimed.evaluations = row.evaluations;
    const NextState next = next_state(row.outcome, claimed, limits);
    CHECK(next.state == row.state);
    CHECK(next.descriptor.uncounted == row.uncounted);
    CHECK(next.descriptor.evaluations == row.evaluations_after);
    CHECK(next.descriptor.cause == row.outcome.cause);
    CHECK(next.descriptor.worker_id == (row.state == QueueState::pending ? "" : "0.1"));
  }
}

TEST_CASE("uncounted attempts leave the full number of others") {
  TaskDescriptor claimed;
  claimed.attempt = 4;
  claimed.uncounted = 2;
  AttemptOutcome lost;
  lost.cause = CauseClass::infra_error;
  CHECK(next_state(lost, claimed, {3, 3}).state == QueueState::pending);
  CHECK(next_state(lost, claimed, {2, 3}).state == QueueState::failed);
}

TEST_CASE("a stub is told from an implementation") {
  using K = KernelDefinition;
  CHECK(find_kernel_definition("def f(x):\n    return x\n", "f") == K::implemented);
  CHECK(find_kernel_definition("def f(x):\n    raise NotImplementedError\n", "f") == K::stub);
  CHECK(find_kernel_definition("def f(x):\n    raise NotImplementedError(\n        'later')\n", "f") ==
        K::stub);
  CHECK(find_kernel_definition(
            "def f(x: int = {1: 2}[1]) -> 'a:b':\n    \"\"\"Doc: it.\n\n    More.\"\"\"\n    # todo\n"
            "    raise NotImplementedError(\"f\")\n",
            "f") == K::stub);
  CHECK(find_kernel_definition("def f(\n    x,\n):\n    raise NotImplementedError\n", "f") == K::stub);
  CHECK(find_kernel_definition("def f(x): raise NotImplementedError\n", "f") == K::stub);
  CHECK(find_kernel_definition("def f(x):\n    if x:\n        raise NotImplementedError\n    return 1\n",
                               "f") == K::implemented);
  CHECK(find_kernel_definition("def f(x):\n    raise NotImplementedErrors\n", "f") == K::implemented);
  CHECK(find_kernel_definition("class A:\n    def f(self):\n        return 1\n", "f") == K::missing);
  CHECK(find_kernel_definition("def f2(x):\n    return 1\n", "f") == K::missing);
  CHECK(find_kernel_definition("def f(x):\n    raise NotImplementedError\n\ndef f(x):\n    return x\n",
                               "f") == K::implemented);
  CHECK(find_kernel_definition("def f(x):\n    raise NotImplementedError\ndef g():\n    return 1\n", "f") ==
        K::stub);
  CHECK(find_kernel_definition("", "f") == K::missing);
}

TEST_CASE("a configured interpreter replaces a leading python, python3 or pytest only") {
  CHECK(with_interpreter("python3 run.py", "/opt/py") == "'/opt/py' run.py");
  CHECK(with_interpreter("python run.py", "/opt/my py") == "'/opt/my py' run.py");
  CHECK(with_interpreter("pytest -x t.py", "/opt/py") == "'/opt/py' -m pytest -x t.py");
  CHECK(with_interpreter("  python3", "/opt/py") == "'/opt/py'");
  CHECK(with_interpreter("python3.11 run.py", "/opt/py") == "python3.11 run.py");
  CHECK(with_interpreter("make && python3 x", "/opt/py") == "make && python3 x");
  CHECK(with_interpreter("python3 run.py", "") == "python3 run.py");
  CHECK(with_interpreter("", "/opt/py") == "");
}

TEST_CASE("v0.2 reads 'fail' without 'pass' as a failure") {
  CHECK(reads_as_failure("Test FAILED"));
  CHECK_FALSE(reads_as_failure("1 passed, 0 failed"));
  CHECK_FALSE(reads_as_failure("all good"));
  CHECK_FALSE(reads_as_failure(""));
}

TEST_CASE("limits are the task's, else the run's") {
  TaskSpec spec;
  RunConfig config;
  config.compile_timeout = std::chrono::seconds(10);
  config.performance_timeout = std::chrono::seconds(30);
  spec.performance_timeout = std::chrono::seconds(5);
  const PhaseLimits limits = limits_of(spec, config);
  CHECK(limits.compile == std::chrono::seconds(10));
  CHECK(limits.performance == std::chrono::seconds(5));
}

TEST_CASE("a clone has the name git gives it") {
  CHECK(repository_name("https://github.com/ROCm/rocPRIM.git") == "rocPRIM");
  CHECK(repository_name("git@host:group/aiter") == "aiter");
  CHECK(repository_name("file:///tmp/x/") == "x");
}

TEST_CASE("seed patterns without a slash hold anywhere, others from the top") {
  CHECK(is_excluded_from_seed("a/__pycache__", {"__pycache__"}));
  CHECK(is_excluded_from_seed("jit/build", {"jit/build"}));
  CHECK_FALSE(is_excluded_from_seed("x/jit/build", {"jit/build"}));
  CHECK(is_excluded_from_seed("a/b.so", {"*.so"}));
  CHECK_FALSE(is_excluded_from_seed("a/b.sox", {"*.so"}));
}

TEST_CASE("the worker's flags") {
  const auto parse = [](std::vector<const char*> words) {
    words.insert(words.begin(), "arena-worker");
    return parse_worker_options(static_cast<int>(words.size()), words.data());
  };
  const auto parsed = parse({"--run-dir", "/w/ws/run_x", "--worker-id", "3.2", "--device", "cpu slot 3"});
  const auto* options = std::get_if<WorkerOptions>(&parsed);
  REQUIRE(options != nullptr);
  CHECK(options->run_directory == "/w/ws/run_x");
  CHECK(options->worker_id == "3.2");
  CHECK(options->device == "cpu slot 3");
  CHECK(options->cache_directory == "/w/.arena_cache");
  CHECK(options->data_directory.filename() == "arena");

  const auto exit_of = [&](std::vector<const char*> words) {
    const auto early = parse(std::move(words));
    return std::holds_alternative<EarlyExit>(early) ? std::get<EarlyExit>(early).code : -1;
  };
  CHECK(exit_of({"--help"}) == 0);
  CHECK(exit_of({"--version"}) == 0);
  CHECK(exit_of({}) == 2);
  CHECK(exit_of({"--run-dir", "/x"}) == 2);
  CHECK(exit_of({"--run-dir", "/x", "--worker-id", "first"}) == 2);
  CHECK(exit_of({"--run-dir", "/x", "--worker-id", "0.1", "--nonsense"}) == 2);
}

TEST_SUITE_END();

}  // namespace arena
