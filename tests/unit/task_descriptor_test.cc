#include "model/task_descriptor.h"

#include <doctest/doctest.h>

#include "base/sealed_text.h"
#include "base/text.h"
#include "model/yaml.h"
#include "unit/sealed_files.h"

namespace arena {

namespace {

TaskDescriptor example() {
  TaskDescriptor descriptor;
  descriptor.index = 17;
  descriptor.total_tasks = 200;
  descriptor.task_name = "hip2hip/gpumode/GELU";
  descriptor.task_config_dir = "tasks/hip2hip/gpumode/GELU/config.yaml";
  descriptor.workspace_path = "/w/run_20260617_101500/hip2hip_gpumode_GELU_20260617_101500";
  descriptor.status = DescriptorStatus::failed;
  descriptor.worker_id = "0.1";
  descriptor.run_id = "00000000000000e1";
  descriptor.task_digest = std::string(64, '0');
  descriptor.attempt = 2;
  descriptor.uncounted = 1;
  descriptor.evaluations = 3;
  descriptor.claimed_by = "0.1";
  descriptor.claimed_at = "2026-06-17T10:15:00Z";
  descriptor.cause = CauseClass::infra_error;
  descriptor.cause_message = "two\nlines: \"quoted\"";
  descriptor.result_digest = std::string(64, 'a');
  return descriptor;
}

std::string error_of(const std::string& body) {
  const auto result = read_descriptor(seal(body), "d");
  REQUIRE_FALSE(result);
  return result.error().message;
}

// The body with `from` replaced by `to`.
std::string changed(std::string_view from, std::string_view to) {
  const std::string text = write_descriptor(example());
  std::string body{unseal(text, "d").value()};
  const std::size_t at = body.find(from);
  REQUIRE(at != std::string::npos);
  return body.replace(at, from.size(), to);
}

}  // namespace

TEST_SUITE_BEGIN("task_descriptor");

TEST_CASE("a descriptor comes back as it was written") {
  const TaskDescriptor a = example();
  const TaskDescriptor b = read_descriptor(write_descriptor(a), "d").value();
  CHECK(b.index == a.index);
  CHECK(b.total_tasks == a.total_tasks);
  CHECK(b.task_name == a.task_name);
  CHECK(b.task_config_dir == a.task_config_dir);
  CHECK(b.workspace_path == a.workspace_path);
  CHECK(b.status == a.status);
  CHECK(b.worker_id == a.worker_id);
  CHECK(b.run_id == a.run_id);
  CHECK(b.task_digest == a.task_digest);
  CHECK(b.attempt == a.attempt);
  CHECK(b.uncounted == a.uncounted);
  CHECK(b.evaluations == a.evaluations);
  CHECK(b.claimed_by == a.claimed_by);
  CHECK(b.claimed_at == a.claimed_at);
  CHECK(b.cause == a.cause);
  CHECK(b.cause_message == a.cause_message);
  CHECK(b.result_digest == a.result_digest);
  CHECK(write_descriptor(b) == write_descriptor(a));
}

TEST_CASE("a fresh descriptor starts with v0.2's keys in v0.2's order and has no cause") {
  TaskDescriptor descriptor = example();
  descriptor.status = DescriptorStatus::pending;
  descriptor.worker_id.clear();
  descriptor.cause.reset();
  descriptor.cause_message.clear();
  descriptor.task_digest.clear();  // of a task whose configuration is broken
  const std::string text = write_descriptor(descriptor);
  CHECK(text.substr(0, text.find("schema_version")) ==
        "index: 17\ntotal_tasks: 200\ntask_name: hip2hip/gpumode/GELU\ntask_config_dir: "
        "tasks/hip2hip/gpumode/GELU/config.yaml\n"
        "workspace_path: /w/run_20260617_101500/hip2hip_gpumode_GELU_20260617_101500\nstatus: pending\n");
  const TaskDescriptor back = read_descriptor(text, "d").value();
  CHECK_FALSE(back.cause);
  CHECK(back.worker_id.empty());
  CHECK(back.task_digest.empty());
}

TEST_CASE("a descriptor cut or changed at any byte is corrupt") {
  check_every_damage(write_descriptor(example()),
                     [](const std::string& text) { return read_descriptor(text, "d"); });
}

TEST_CASE("a well sealed descriptor with a missing, wrong or foreign key is corrupt and names the key") {
  for (const char* key : {"index", "total_tasks", "task_name", "task_config_dir", "workspace_path", "status",
                          "schema_version", "run_id", "attempt", "uncounted", "evaluations"}) {
    CAPTURE(key);
    const auto is_line_of_key = std::string(key) + ": ";
    CHECK(contains(error_of(changed(is_line_of_key, "other_" + is_line_of_key)), key));
  }
  CHECK(error_of(changed("index: 17", "index: \"17\"")) ==
        "d:1: index: expected a whole number, not the text \"17\"");
  CHECK(contains(error_of(changed("index: 17", "index: 0")), "index"));
  CHECK(contains(error_of(changed("attempt: 2", "attempt: -1")), "attempt"));
  CHECK(contains(error_of(changed("status: failed", "status: running")), "unknown status 'running'"));
  CHECK(
      contains(error_of(changed("cause: infra_error", "cause: bad_luck")), "unknown cause class 'bad_luck'"));
  CHECK(contains(error_of(changed("uncounted:", "uncountd: 1\nuncounted:")), "uncountd: unknown key"));
  CHECK(
      contains(error_of(changed("task_name: hip2hip/gpumode/GELU", "task_name: ~")), "task_name: required"));
  CHECK(contains(error_of(""), "d:1: "));
  CHECK(contains(error_of("- a\n"), "d:1: "));
}

TEST_CASE("a descriptor of a newer arena is told apart from a damaged one") {
  const auto result = read_descriptor(seal(changed("schema_version: 1", "schema_version: 2")), "d");
  CHECK(result.error().code == ErrorCode::unsupported);
}

TEST_CASE("descriptors of v0.2 are read without a seal, with keys of their own") {
  const std::string text =
      "index: 1\ntotal_tasks: 2\ntask_name: a/b\ntask_config_dir: tasks/a/b/config.yaml\nworkspace_path: "
      "/w\nstatus: done\n"
      "worker_id: '0'\nextra: x\n";
  const TaskDescriptor descriptor = read_foreign_descriptor(text, "d").value();
  CHECK(descriptor.status == DescriptorStatus::done);
  CHECK(descriptor.worker_id == "0");
  CHECK_FALSE(read_descriptor(text, "d"));
  CHECK(read_foreign_descriptor("index: 1\n", "d").error().code == ErrorCode::corrupt);
  CHECK(read_foreign_descriptor("index: [\n", "d").error().code == ErrorCode::corrupt);
}

TEST_SUITE_END();

}  // namespace arena
