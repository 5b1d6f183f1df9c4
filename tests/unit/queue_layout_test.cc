#include "queue/queue_layout.h"

#include <doctest/doctest.h>

namespace arena {

TEST_SUITE_BEGIN("queue_layout");

TEST_CASE("a task's slug is made as v0.2 makes it") {
  const struct {
    const char* name;
    const char* slug;
  } table[] = {
      {"hip2hip/gpumode/GELU", "hip2hip_gpumode_GELU"},
      {"a", "a"},
      {"a b\t c", "a_b_c"},
      {"_a_", "a"},
      {"//a//b//", "a_b"},
      {"a__b", "a__b"},
      {"a/_b", "a__b"},
      {"v1.2-x_y", "v1.2-x_y"},
      {"..", ".."},
      {"gr\xC3\xBC\xC3\x9F"
       "e",
       "gr_e"},
      {"", "task"},
      {"///", "task"},
      {"__", "task"},
  };
  for (const auto& row : table) {
    CAPTURE(row.name);
    CHECK(slug_of(row.name) == row.slug);
    CHECK(slug_of(row.slug) == row.slug);
  }
  CHECK(workspace_slug_of("hip2hip/gpu mode/GELU") == "hip2hip_gpu mode_GELU");
}

TEST_CASE("an entry's name survives the round trip") {
  const struct {
    EntryName entry;
    const char* name;
  } table[] = {
      {{"", 1, "a"}, "000001_a.yaml"},
      {{"", 999999, "a"}, "999999_a.yaml"},
      {{"", 1000000, "a"}, "1000000_a.yaml"},
      {{"0.1", 1, "hip2hip_x"}, "worker_0.1__000001_hip2hip_x.yaml"},
      {{"3", 12, "a__b"}, "worker_3__000012_a__b.yaml"},  // v0.2's ids have no incarnation
      {{"node-7.2", 12, "000003_a.yaml"}, "worker_node-7.2__000012_000003_a.yaml.yaml"},
      {{"0.1", 1, "worker_0.1__000001_a"}, "worker_0.1__000001_worker_0.1__000001_a.yaml"},
      {{"", 5, "a.tmp.1.2"}, "000005_a.tmp.1.2.yaml"},
      {{"", 7, ".."}, "000007_...yaml"},
  };
  for (const auto& row : table) {
    CAPTURE(row.name);
    CHECK(format_entry_name(row.entry) == row.name);
    CHECK(parse_entry_name(row.name) == row.entry);
    CHECK_FALSE(parse_temporary_entry_name(row.name));
  }
}

TEST_CASE("a name that we would not have written is no entry") {
  for (const char* name : {
           "",
           ".",
           "..",
           ".yaml",
           "a.yaml",
           "000001.yaml",
           "000001_.yaml",
           "000001_a",
           "000001_a.yml",
           "000001_a.yaml~",
           "000001_a.yaml.tmp.12.3",
           "000001_a.yaml.reason",
           "00001_a.yaml",
           "0000001_a.yaml",
           "000000_a.yaml",
           "-00001_a.yaml",
           "+00001_a.yaml",
           "000001__a.yaml",
           "000001_a_.yaml",
           "000001_a b.yaml",
           "000001_a/b.yaml",
           " 000001_a.yaml",
           "99999999999999999999_a.yaml",
           "worker_000001_a.yaml",
           "worker___000001_a.yaml",
           "worker_0.1_000001_a.yaml",
           "worker_0_1__000001_a.yaml",
           "worker_0/1__000001_a.yaml",
           "worker_0.1__a.yaml",
           "Worker_0.1__000001_a.yaml",
           "xworker_0.1__000001_a.yaml",
           ".000001_a.yaml.swp",
           "4913",
           "000001_a.YAML",
           "000001_gr\xC3\xBC.yaml",
       }) {
    CAPTURE(name);
    CHECK_FALSE(parse_entry_name(name));
  }
}

TEST_CASE("a temporary name leads to the entry it was meant for") {
  CHECK(parse_temporary_entry_name("000001_a.yaml.tmp.12.3") == EntryName{"", 1, "a"});
  CHECK(parse_temporary_entry_name("worker_0.1__000001_a.tmp.5.6.yaml.tmp.12.0") ==
        EntryName{"0.1", 1, "a.tmp.5.6"});
  for (const char* name :
       {"000001_a.yaml", "000001_a.yaml.tmp.12", "000001_a.yaml.tmp.12.", "000001_a.yaml.tmp..3",
        "000001_a.yaml.tmp.1x.3", "000001_a.tmp.12.3", ".tmp.1.2", "notes.txt.tmp.1.2"}) {
    CAPTURE(name);
    CHECK_FALSE(parse_temporary_entry_name(name));
  }
}

TEST_CASE("names in corrupt/ are numbered from the second on") {
  const EntryName entry{"0.1", 3, "a"};
  CHECK(format_corrupt_name({entry, 1}) == "worker_0.1__000003_a.yaml");
  CHECK(format_corrupt_name({entry, 2}) == "worker_0.1__000003_a.yaml.2");
  for (const std::int64_t number : {1, 2, 3, 10}) {
    const CorruptName name{entry, number};
    CHECK(parse_corrupt_name(format_corrupt_name(name)) == name);
  }
  for (const char* name : {"worker_0.1__000003_a.yaml.reason", "worker_0.1__000003_a.yaml.2.reason",
                           "worker_0.1__000003_a.yaml.1", "worker_0.1__000003_a.yaml.02",
                           "worker_0.1__000003_a.yaml.0", "worker_0.1__000003_a.yaml.2.2", "x.2", "2", ""}) {
    CAPTURE(name);
    CHECK_FALSE(parse_corrupt_name(name));
  }
}

TEST_CASE("a worker id is a slot and an incarnation") {
  for (const WorkerId id : {WorkerId{0, 1}, WorkerId{12, 305}})
    CHECK(parse_worker_id(format_worker_id(id)) == id);
  CHECK(format_worker_id({3, 2}) == "3.2");
  for (const char* text :
       {"", "3", ".", "3.", ".2", "3.2.1", "03.2", "3.02", "-3.2", "3.-2", "a.b", " 3.2", "3.2 "}) {
    CAPTURE(text);
    CHECK_FALSE(parse_worker_id(text));
  }
}

TEST_CASE("a run's timestamp is read from its name") {
  CHECK(run_timestamp_of("run_20261201_101500") == "20261201_101500");
  CHECK(run_timestamp_of("run_20261201_101500_night-1.b") == "20261201_101500");
  for (const char* name : {"", "run_", "run_20261201", "run_20261201_10150", "run_20261201_1015000",
                           "run_20261201_101500_", "run_20261201_101500x", "run_20261201_101500_a b",
                           "Run_20261201_101500", "run_2026120x_101500", "20261201_101500"}) {
    CAPTURE(name);
    CHECK_FALSE(run_timestamp_of(name));
  }
  CHECK(is_valid_run_suffix("a.B-1_"));
  for (const char* suffix : {"", "a b", "a/b", "\xC3\xBC"}) CHECK_FALSE(is_valid_run_suffix(suffix));
}

TEST_CASE("every path of a run lies where the docs say") {
  const QueueLayout layout("/w/run_20261201_101500_x");
  CHECK(layout.run_name() == "run_20261201_101500_x");
  CHECK(layout.run_record() == "/w/run_20261201_101500_x/run.yaml");
  CHECK(layout.run_record(2) == "/w/run_20261201_101500_x/run.2.yaml");
  const fs::path parallel = "/w/run_20261201_101500_x/.parallel";
  CHECK(layout.parallel() == parallel);
  CHECK(layout.parallel_being_built() == "/w/run_20261201_101500_x/.parallel.new");
  CHECK(layout.coordinator_lock() == parallel / "coordinator.lock");
  CHECK(layout.halt_file() == parallel / "halt.yaml");
  CHECK(layout.state_directory(QueueState::failed) == parallel / "failed");
  CHECK(layout.entry(QueueState::running, {"0.1", 3, "a"}) == parallel / "running/worker_0.1__000003_a.yaml");
  CHECK(layout.corrupt_entry({{"0.1", 3, "a"}, 2}) == parallel / "corrupt/worker_0.1__000003_a.yaml.2");
  CHECK(layout.corrupt_reason({{"", 3, "a"}, 1}) == parallel / "corrupt/000003_a.yaml.reason");
  CHECK(layout.worker_record("0.1") == parallel / "workers/0.1.yaml");
  CHECK(layout.worker_lock("0.1") == parallel / "workers/0.1.lock");
  CHECK(layout.worker_halt("0.1") == parallel / "workers/0.1.halt");
  CHECK(layout.worker_log("0.1") == parallel / "workers/0.1.log");
  CHECK(layout.events("coordinator") == parallel / "events/coordinator.jsonl");
  CHECK(layout.workspace("a/b c") == "/w/run_20261201_101500_x/a_b c_20261201_101500");
  CHECK(layout.task_result("a/b") == "/w/run_20261201_101500_x/a_b_20261201_101500/task_result.yaml");
  CHECK(layout.attempt("a/b", 2) == "/w/run_20261201_101500_x/.attempts/a_b/2");
  CHECK(layout.candidate("a/b") == "/w/run_20261201_101500_x/.attempts/a_b/candidate");
  CHECK(layout.reports() == "/w/run_20261201_101500_x/reports");
}

TEST_CASE("a slash behind the run directory changes nothing") {
  CHECK(QueueLayout("/w/run_20261201_101500/").run_name() == "run_20261201_101500");
  CHECK(QueueLayout("/w/run_20261201_101500/").parallel() == "/w/run_20261201_101500/.parallel");
}

TEST_SUITE_END();

}  // namespace arena
