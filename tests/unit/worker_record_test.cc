#include "model/worker_record.h"

#include <doctest/doctest.h>

#include "base/sealed_text.h"
#include "base/text.h"
#include "unit/sealed_files.h"

namespace arena {

namespace {

WorkerRecord example() {
  WorkerRecord record;
  record.worker_id = "0.1";
  record.run_id = "a3b4c5d6e7f80123";
  record.launcher = "local";
  record.host = "node-7";
  record.boot_id = "6c5e2b1e-0000-4000-8000-1234567890ab";
  record.pid = 4'194'303;
  record.start_ticks = 123'456'789'012;
  record.container = "arena-0-1";
  record.device = "cpu slot 0";
  record.reap_mode = "pid_namespace";
  record.started_at = "2026-06-17T10:15:00Z";
  record.version = "0.1.0";
  return record;
}

}  // namespace

TEST_SUITE_BEGIN("worker_record");

TEST_CASE("a worker record comes back as it was written") {
  const WorkerRecord a = example();
  const WorkerRecord b = read_worker_record(write_worker_record(a), "w").value();
  CHECK(b.worker_id == a.worker_id);
  CHECK(b.protocol_version == a.protocol_version);
  CHECK(b.run_id == a.run_id);
  CHECK(b.launcher == a.launcher);
  CHECK(b.host == a.host);
  CHECK(b.boot_id == a.boot_id);
  CHECK(b.pid == a.pid);
  CHECK(b.start_ticks == a.start_ticks);
  CHECK(b.container == a.container);
  CHECK(b.device == a.device);
  CHECK(b.reap_mode == a.reap_mode);
  CHECK(b.started_at == a.started_at);
  CHECK(b.version == a.version);
}

TEST_CASE("a worker record cut or changed at any byte is corrupt") {
  check_every_damage(write_worker_record(example()),
                     [](const std::string& text) { return read_worker_record(text, "w"); });
}

TEST_CASE("a worker record of another protocol is readable, so that its worker can be ended") {
  const std::string text = write_worker_record(example());
  std::string body{unseal(text, "w").value()};
  body.replace(body.find("protocol_version: 1"), 19, "protocol_version: 9\nnew_key: x");
  CHECK(read_worker_record(seal(body), "w").value().protocol_version == 9);
}

TEST_CASE("a well sealed worker record without what identifies a process is corrupt") {
  const std::string text = write_worker_record(example());
  const std::string_view body = unseal(text, "w").value();
  for (const char* key :
       {"worker_id", "protocol_version", "run_id", "launcher", "host", "boot_id", "pid", "start_ticks"}) {
    CAPTURE(key);
    std::string without(body);
    const std::size_t begin = without.find(std::string(key) + ":");
    without.erase(begin, without.find('\n', begin) + 1 - begin);
    const auto result = read_worker_record(seal(without), "w");
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::corrupt);
    CHECK(contains(result.error().message, key));
  }
}

TEST_SUITE_END();

}  // namespace arena
