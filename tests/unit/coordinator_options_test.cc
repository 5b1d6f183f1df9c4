#include <doctest/doctest.h>

#include <sstream>

#include "coordinator/options.h"

namespace arena {

namespace {

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word == "''" ? "" : word);
  return result;
}

Options good(const std::string& line) {
  CAPTURE(line);
  const auto parsed = parse_options(words(line));
  if (!parsed) FAIL(parsed.error().message);
  CHECK(!parsed->answer);
  return parsed->options;
}

}  // namespace

TEST_CASE("a new run takes every flag of the command line") {
  const Options options = good(
      "--config c.yaml --tasks-dir t --workspace-root w --run-suffix s.1 --launcher local --cpu-slots 3 "
      "--max-attempts 2 "
      "--halt soon,fail=4 --dry-run --json -v");
  CHECK(options.command == Command::run);
  CHECK(options.config == "c.yaml");
  CHECK(options.tasks_directory == "t");
  CHECK(options.workspace_root == "w");
  CHECK(options.run_suffix == "s.1");
  CHECK(options.cpu_slots == 3);
  CHECK(options.max_attempts == 2);
  REQUIRE(options.halt);
  CHECK(!options.halt->now);
  CHECK(options.halt->failures == 4);
  CHECK(options.dry_run);
  CHECK(options.json);
  CHECK(options.verbosity == 1);
}

TEST_CASE("v0.2's --config_name is --config") { CHECK(good("--config_name c.yaml").config == "c.yaml"); }

TEST_CASE("a resume needs no configuration") {
  CHECK(good("--resume-latest").resume_latest);
  CHECK(good("--resume-run run_20260101_000000").resume_run == "run_20260101_000000");
  CHECK(good("--resume-latest --retry-failed --cpu-slots 1").retry_failed);
}

TEST_CASE("each command takes its own words") {
  Options options = good("status");
  CHECK(options.command == Command::status);
  CHECK(options.run.empty());
  options = good("status run_1 --watch --json --workspace-root w");
  CHECK(options.run == "run_1");
  CHECK(options.watch);
  CHECK(options.json);
  CHECK(options.workspace_root == "w");
  CHECK(good("--workspace-root w status").workspace_root == "w");
  options = good("retry run_1 a/b c/d");
  CHECK(options.command == Command::retry);
  CHECK(options.names == std::vector<std::string>{"a/b", "c/d"});
  options = good("stop run_1 --now");
  CHECK(options.command == Command::stop);
  CHECK(options.now);
  CHECK(good("tasks cpp2cpp --tasks-dir t").names == std::vector<std::string>{"cpp2cpp"});
  CHECK(good("report run_1").command == Command::report);
  CHECK(good("doctor").command == Command::doctor);
  options = good("clean --yes --older-than 3");
  CHECK(options.yes);
  CHECK(options.older_than_days == 3);
}

TEST_CASE("--help and --version are answers, for each command") {
  for (const std::string line : {"--help", "-h", "--version", "status --help", "clean -h", "stop --help"}) {
    CAPTURE(line);
    const auto parsed = parse_options(words(line));
    REQUIRE(parsed);
    REQUIRE(parsed->answer);
    CHECK(!parsed->answer->text.empty());
  }
  CHECK(parse_options({"--help"})->answer->text.find("--resume-latest") != std::string::npos);
  CHECK(parse_options({"stop", "--help"})->answer->text.find("--now") != std::string::npos);
}

TEST_CASE("a wrong command line is refused with one line that names the flag") {
  struct Row {
    std::string line;
    std::string message;
  };
  const std::vector<Row> rows = {
      {"",
       "--config FILE is missing (or --resume-run RUN, --resume-latest, or a command: see arena-coord "
       "--help)"},
      {"--config", "--config: 1 required FILE missing; see --help"},
      {"--config ''", "--config: the value is empty"},
      {"--config c --cpu-slots 0", "--cpu-slots: '0' is no whole number from 1 to 4096"},
      {"--config c --cpu-slots 2.5", "--cpu-slots: '2.5' is no whole number from 1 to 4096"},
      {"--config c --cpu-slots=-1", "--cpu-slots: '-1' is no whole number from 1 to 4096"},
      {"--config c --cpu-slots 0x2", "--cpu-slots: '0x2' is no whole number from 1 to 4096"},
      {"--config c --max-attempts many", "--max-attempts: 'many' is no whole number from 1 to 100"},
      {"--config c --halt later", "--halt: 'later' is neither now,fail=N nor soon,fail=N with N from 1"},
      {"--config c --halt now,fail=0",
       "--halt: 'now,fail=0' is neither now,fail=N nor soon,fail=N with N from 1"},
      {"--config c --run-suffix a/b", "--run-suffix: 'a/b' may only hold letters, digits, '.', '_' and '-'"},
      {"--config c --run-name mine", "--run-name: 'mine' is not of the form run_YYYYmmdd_HHMMSS[_suffix]"},
      {"--config c --launcher docker",
       "--launcher: docker is not available in this build yet; use --launcher local"},
      {"--config c --launcher podman",
       "--launcher: podman is not available in this build yet; use --launcher local"},
      {"--config c --launcher lxc", "--launcher: 'lxc' is unknown; it is local, docker or podman"},
      {"--config c --gpu-ids 0,1 --cpu-slots 2", "give --gpu-ids or --cpu-slots, not both"},
      {"--config c -q -v", "give -q or -v, not both"},
      {"--resume-latest --resume-run r", "give --resume-run or --resume-latest, not both"},
      {"--resume-latest --run-suffix s", "--run-suffix names a new run; it does not go with a resume"},
      {"--resume-latest --run-name run_20260101_000000",
       "--run-name names a new run; it does not go with a resume"},
      {"--config c --retry-failed", "--retry-failed goes with --resume-run or --resume-latest"},
      {"--config c --cpu-slot 1", "unknown option '--cpu-slot', did you mean '--cpu-slots'; see --help"},
      {"--config c --zzzzzzzzzz", "unknown option '--zzzzzzzzzz'; see --help"},
      {"statsu", "unexpected argument 'statsu', did you mean 'status'; see --help"},
      {"status --now", "unknown option '--now'; see --help"},
      {"--config c status", "--config does not go with 'status'"},
      {"--dry-run doctor", "--dry-run does not go with 'doctor'"},
      {"stop", "RUN is required; see --help"},
      {"retry run_1", "TASK is required; see --help"},
      {"clean --older-than soon", "--older-than: 'soon' is no whole number from 0 to 36500"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const auto parsed = parse_options(words(row.line));
    REQUIRE(!parsed);
    CHECK(parsed.error().code == ErrorCode::invalid_input);
    CHECK(parsed.error().message == row.message);
  }
}

}  // namespace arena
