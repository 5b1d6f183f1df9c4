#include <doctest/doctest.h>

#include <fmt/format.h>
#include <exception>
#include <fstream>

#include "coordinator/run_directory.h"

namespace arena {

namespace {

// A folder of its own for each test; a failing test leaves it.
struct Folder {
  fs::path path = fs::temp_directory_path() / fs::unique_path("arena-run-directory-%%%%%%%%");
  Folder() { fs::create_directories(path); }
  ~Folder() {
    boost::system::error_code ignored;
    if (std::uncaught_exceptions() == 0) fs::remove_all(path, ignored);
  }
};

RunConfig config_of(const std::string& gpu) {
  RunConfig config;
  config.target_gpu_model = gpu;
  config.agent.template_name = "oracle";
  return config;
}

void write_record(const fs::path& run, int number, const std::string& id) {
  RunRecord record;
  record.run_id = id;
  record.run_name = run.filename().string();
  record.created_at = "2026-12-01T10:15:00.000Z";
  record.arena_version = "0";
  record.tasks_directory = "/tasks";
  record.launcher = "local";
  record.config = config_of("CPU");
  record.config.tasks = {"all"};
  record.config_digest = std::string(64, 'a');
  record.tasks = {{1, "a/b", std::string(64, 'b'), std::string(64, 'c')}};
  std::ofstream(QueueLayout(run).run_record(number).string()) << write_run_record(record);
}

const WallTime kNow = std::chrono::system_clock::from_time_t(1800000000);

}  // namespace

TEST_CASE("a run directory has v0.2's place and name") {
  Folder folder;
  RealFileSystem disk;
  const auto run = create_run_directory(disk, folder.path, config_of("CPU"), "", "", kNow);
  REQUIRE(run);
  CHECK(*run == fs::canonical(folder.path) / "workspace_CPU_oracle" / ("run_" + format_run_timestamp(kNow)));
  const auto suffixed = create_run_directory(disk, folder.path, config_of("CPU"), "", "night", kNow);
  REQUIRE(suffixed);
  CHECK(suffixed->filename() == "run_" + format_run_timestamp(kNow) + "_night");
}

TEST_CASE("two runs of one second get two directories") {
  Folder folder;
  RealFileSystem disk;
  const auto first = create_run_directory(disk, folder.path, config_of("CPU"), "", "", kNow);
  const auto second = create_run_directory(disk, folder.path, config_of("CPU"), "", "", kNow);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(*first != *second);
  CHECK(second->filename() == "run_" + format_run_timestamp(kNow + std::chrono::seconds(1)));
}

TEST_CASE("a given run name that is taken is an error") {
  Folder folder;
  RealFileSystem disk;
  REQUIRE(create_run_directory(disk, folder.path, config_of("CPU"), "run_20260101_000000", "", kNow));
  const auto again =
      create_run_directory(disk, folder.path, config_of("CPU"), "run_20260101_000000", "", kNow);
  REQUIRE(!again);
  CHECK(again.error().code == ErrorCode::exists);
}

TEST_CASE("the newest run is found by name over all workspaces; heldout ones and other folders are none") {
  Folder folder;
  RealFileSystem disk;
  for (const char* name :
       {"workspace_CPU_oracle/run_20260101_000000", "workspace_MI300_nop/run_20260301_000000",
        "workspace_CPU_oracle/run_20260401_000000_heldout", "workspace_CPU_oracle/run_me", "other/readme"}) {
    fs::create_directories(folder.path / name);
  }
  write_record(folder.path / "workspace_CPU_oracle/run_20260101_000000", 1, "1111111111111111");
  write_record(folder.path / "workspace_MI300_nop/run_20260301_000000", 1, "2222222222222222");
  const auto runs = list_runs(disk, folder.path);
  REQUIRE(runs);
  REQUIRE(runs->size() == 2);
  std::vector<std::string> warnings;
  CHECK(find_newest_run(disk, folder.path, &warnings)->filename() == "run_20260301_000000");
  CHECK(warnings.empty());

  fs::remove(folder.path / "workspace_MI300_nop/run_20260301_000000/run.yaml");
  CHECK(find_newest_run(disk, folder.path, &warnings)->filename() == "run_20260101_000000");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("run_20260301_000000") != std::string::npos);
}

TEST_CASE("no run at all is an error that names the folder") {
  Folder folder;
  RealFileSystem disk;
  const auto run = find_newest_run(disk, folder.path, nullptr);
  REQUIRE(!run);
  CHECK(run.error().code == ErrorCode::invalid_input);
  CHECK(run.error().message == "there is no run below '" + fs::canonical(folder.path).string() + "'");
}

TEST_CASE("a run is named by its path or by its name, and a name that fits twice is refused") {
  Folder folder;
  RealFileSystem disk;
  const fs::path run = folder.path / "workspace_CPU_oracle/run_20260101_000000";
  fs::create_directories(run);
  CHECK(*find_run(disk, run.string() + "/", folder.path) == fs::canonical(run));
  CHECK(*find_run(disk, "run_20260101_000000", folder.path) == fs::canonical(run));
  CHECK(!find_run(disk, "run_20260101_000001", folder.path));
  CHECK(!find_run(disk, folder.path.string(), folder.path));
  fs::create_directories(folder.path / "workspace_CPU_nop/run_20260101_000000");
  const auto twice = find_run(disk, "run_20260101_000000", folder.path);
  REQUIRE(!twice);
  CHECK(twice.error().message.find("several runs") != std::string::npos);
}

TEST_CASE("the newest record of a run is the one with the highest number") {
  Folder folder;
  RealFileSystem disk;
  const fs::path run = folder.path / "run_20260101_000000";
  fs::create_directories(run);
  CHECK(read_newest_record(disk, QueueLayout(run)).error().code == ErrorCode::invalid_input);
  for (const int number : {1, 2, 10}) write_record(run, number, fmt::format("{:016}", number));
  const auto stored = read_newest_record(disk, QueueLayout(run));
  REQUIRE(stored);
  CHECK(stored->number == 10);
  CHECK(stored->record.run_id == "0000000000000010");
  std::ofstream((run / "run.11.yaml").string()) << "cut";
  CHECK(!read_newest_record(disk, QueueLayout(run)));
}

}  // namespace arena
