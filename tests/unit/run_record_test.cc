#include "model/run_record.h"

#include <doctest/doctest.h>

#include "base/digest.h"
#include "base/sealed_text.h"
#include "base/text.h"
#include "model/yaml.h"
#include "unit/sealed_files.h"

namespace arena {

namespace {

RunRecord example() {
  RunRecord record;
  record.run_id = "a3b4c5d6e7f80123";
  record.run_name = "run_20260617_101500_x";
  record.created_at = "2026-06-17T10:15:00Z";
  record.arena_version = "0.1.0";
  record.config_file = "my configs/run.yaml";
  record.tasks_directory = "/p/tasks";
  record.launcher = "local";
  record.devices = {"cpu slot 0", "cpu slot 1"};
  record.config.agent.template_name = "command";
  record.config.agent.command = {"sh", "-c", "a\ntasks: |\n  1 - - x\nskipped: |\n"};
  record.config.tasks = {"all"};
  record.config_digest = sha256_hex(canonical_text(record.config));
  record.tool_versions = {{"g++", "12.2.0"}};
  record.tasks = {{1, "a/b", std::string(64, 'd'), std::string(64, 'e')}, {3, "c/with # and spaces", "", ""}};
  record.skipped = {{"x/y", "needs gfx942: \"no\""}};
  return record;
}

std::string body_of(const RunRecord& record) {
  const std::string text = write_run_record(record);
  return std::string(unseal(text, "r").value());
}

}  // namespace

TEST_SUITE_BEGIN("run_record");

TEST_CASE("a run record comes back as it was written") {
  const RunRecord a = example();
  const RunRecord b = read_run_record(write_run_record(a), "r").value();
  CHECK(b.run_id == a.run_id);
  CHECK(b.run_name == a.run_name);
  CHECK(b.created_at == a.created_at);
  CHECK(b.arena_version == a.arena_version);
  CHECK(b.config_file == a.config_file);
  CHECK(b.tasks_directory == a.tasks_directory);
  CHECK(b.launcher == a.launcher);
  CHECK(b.devices == a.devices);
  CHECK(b.architecture == a.architecture);
  CHECK(b.config_digest == a.config_digest);
  CHECK(canonical_text(b.config) == canonical_text(a.config));
  CHECK(b.tool_versions == a.tool_versions);
  CHECK(b.tasks == a.tasks);
  REQUIRE(b.skipped.size() == 1);
  CHECK(b.skipped[0].name == "x/y");
  CHECK(b.skipped[0].reason == "needs gfx942: \"no\"");
  CHECK(write_run_record(b) == write_run_record(a));
}

TEST_CASE("the plan is also plain YAML, with nothing in it too") {
  const YamlNode root = parse_yaml(body_of(example()), "r").value();
  CHECK(root.find("skipped")->scalar == "x/y\tneeds gfx942: \"no\"\n");
  CHECK(contains(root.find("tasks")->scalar, "3 - - c/with # and spaces\n"));
  RunRecord empty = example();
  empty.tasks.clear();
  empty.skipped.clear();
  const RunRecord back = read_run_record(write_run_record(empty), "r").value();
  CHECK(back.tasks.empty());
  CHECK(back.skipped.empty());
  CHECK(parse_yaml(body_of(empty), "r"));
}

TEST_CASE("a run record cut or changed at any byte is corrupt") {
  check_every_damage(write_run_record(example()),
                     [](const std::string& text) { return read_run_record(text, "r"); });
}

TEST_CASE("a well sealed record with a broken line or a missing key is corrupt") {
  const std::string body = body_of(example());
  const auto read_changed = [&](const std::string& from, const std::string& to) {
    std::string changed = body;
    REQUIRE(changed.find(from) != std::string::npos);
    return read_run_record(seal(changed.replace(changed.find(from), from.size(), to)), "r");
  };
  for (const auto& change :
       std::vector<std::pair<std::string, std::string>>{{"  3 - - c", "  x - - c"},
                                                        {"  3 - - c", "3 - - c"},
                                                        {"  3 - - c/with # and spaces", "  3 - -"},
                                                        {"  3 - - c", "  0 - - c"},
                                                        {"x/y\t", "x/y "},
                                                        {"\ntasks: |\n", "\ntask: |\n"},
                                                        {"\nskipped: |\n", "\nskiped: |\n"},
                                                        {"run_id:", "run_idd:"},
                                                        {"\nconfig:", "\nconfigs:"},
                                                        {"template: command", "template: nop"}}) {
    CAPTURE(change.second);
    const auto result = read_changed(change.first, change.second);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::corrupt);
  }
  CHECK(read_changed("schema_version: 1", "schema_version: 2").error().code == ErrorCode::unsupported);
}

TEST_SUITE_END();

}  // namespace arena
