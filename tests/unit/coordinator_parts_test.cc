#include <doctest/doctest.h>

#include <algorithm>

#include "coordinator/completion.h"
#include "coordinator/local_launcher.h"
#include "coordinator/shell_command.h"
#include "coordinator/slot.h"
#include "coordinator/takeover.h"

namespace arena {

TEST_CASE("a value is found in a descriptor without parsing it") {
  const std::string text =
      "index: 1\nresult_digest: abc\nquoted: \"12e4\"\nempty: \"\"\nlast: 'x'\n# sha256: 00\n";
  CHECK(plain_value(text, "result_digest") == "abc");
  CHECK(plain_value(text, "quoted") == "12e4");
  CHECK(plain_value(text, "empty").empty());
  CHECK(plain_value(text, "last") == "x");
  CHECK(plain_value(text, "digest").empty());
  CHECK(plain_value("", "x").empty());
}

TEST_CASE("a printed command is read back by a shell word for word") {
  CHECK(shell_quoted("/a/b-c.d_1") == "/a/b-c.d_1");
  CHECK(shell_quoted("") == "''");
  CHECK(shell_quoted("a b") == "'a b'");
  CHECK(shell_quoted("it's") == "'it'\\''s'");
  CHECK(resume_command("/w/run 1", {"--retry-failed"}) ==
        "arena-coord --resume-run '/w/run 1' --retry-failed");
}

TEST_CASE("a worker's end becomes the event that its exit code stands for") {
  CHECK(exit_event(std::nullopt) == SlotEvent::exited_unknown);
  CHECK(exit_event(ProcessEnd{Exited{0}}) == SlotEvent::exited_done);
  CHECK(exit_event(ProcessEnd{Exited{1}}) == SlotEvent::exited_done);
  CHECK(exit_event(ProcessEnd{Exited{2}}) == SlotEvent::exited_unusable);
  CHECK(exit_event(ProcessEnd{Exited{3}}) == SlotEvent::exited_halted);
  CHECK(exit_event(ProcessEnd{Exited{4}}) == SlotEvent::exited_badly);
  CHECK(exit_event(ProcessEnd{Exited{127}}) == SlotEvent::exited_badly);
  CHECK(exit_event(ProcessEnd{Signaled{9, false}}) == SlotEvent::exited_badly);
}

TEST_CASE("live workers of the same run and protocol are adopted, all others leave or are ended") {
  TakeoverOrder order;
  order.run_id = "run";
  order.slots = 2;
  WorkerRecord record;
  record.run_id = "run";
  record.worker_id = "1.4";
  CHECK(fate_of(record, {1, 4}, order, false) == WorkerFate::adopt);
  CHECK(fate_of(record, {1, 4}, order, true) == WorkerFate::drain);
  record.worker_id = "2.1";
  CHECK(fate_of(record, {2, 1}, order, false) == WorkerFate::drain);
  CHECK(fate_of(record, {1, 1}, order, false) == WorkerFate::end);  // somebody else's record
  record.protocol_version = kWorkerProtocolVersion + 1;
  CHECK(fate_of(record, {2, 1}, order, false) == WorkerFate::end);
  record.protocol_version = kWorkerProtocolVersion;
  record.run_id = "other";
  CHECK(fate_of(record, {2, 1}, order, false) == WorkerFate::end);
  record.run_id = "run";
  order.end_all = true;
  CHECK(fate_of(record, {2, 1}, order, false) == WorkerFate::end);
}

TEST_CASE("a local worker gets its order on the command line and only allowed variables") {
  LocalLaunch settings;
  settings.worker_program = "/bin/arena-worker";
  settings.data_directory = "/data";
  settings.cache_directory = "/root/.arena_cache";
  settings.log_directory = "/logs";
  settings.log_name_start = "CPU_oracle_20260101_000000";
  settings.run_id = "0123456789abcdef";
  settings.environment_names = {"MY_KEY"};
  const QueueLayout layout("/w/workspace_CPU_oracle/run_20260101_000000");
  const LaunchSpec spec =
      local_launch_spec(layout, settings, {"1.2", "cpu slot 1"},
                        {{"PATH", "/bin"}, {"SECRET", "x"}, {"MY_KEY", "k"}, {"ARENA_X", "y"}});
  CHECK(spec.argv == std::vector<std::string>{"/bin/arena-worker", "--run-dir",
                                              layout.run_directory().string(), "--worker-id", "1.2",
                                              "--device", "cpu slot 1", "--launcher", "local", "--data-dir",
                                              "/data", "--cache-dir", "/root/.arena_cache", "--log-file",
                                              "/logs/CPU_oracle_20260101_000000_worker1.2.log"});
  CHECK(spec.environment == EnvironmentMap{{"PATH", "/bin"},
                                           {"MY_KEY", "k"},
                                           {"ARENA_RUN_ID", "0123456789abcdef"},
                                           {"ARENA_WORKER", "0123456789abcdef/1.2"}});
  CHECK(spec.output_file == layout.worker_log("1.2"));
  CHECK(spec.new_session);
  CHECK(spec.new_pid_namespace);
}

}  // namespace arena
