#pragma once
// run.yaml: what was asked and what was found. Never rewritten; a resume that adds something writes
// run.2.yaml, … The plan is a block of lines, one task each, so that a person reads it and 10,000 tasks load
// in milliseconds.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/run_config.h"

namespace arena {

inline constexpr int kRunSchemaVersion = 1;

struct PlannedTask {
  std::int64_t index = 0;
  std::string name;
  std::string digest;       // of the task's tree (os/tree.h digest_tree)
  std::string stat_digest;  // of paths, sizes and mtimes: when it still fits, the tree need not be read again
  bool operator==(const PlannedTask&) const = default;
};

struct SkippedTask {
  std::string name;
  std::string reason;
};

struct RunRecord {
  int schema_version = kRunSchemaVersion;
  std::string run_id;      // random, 16 hex digits
  std::string run_name;    // run_<timestamp>[_suffix]
  std::string created_at;  // UTC
  std::string arena_version;
  std::string config_file;      // as given, for people
  std::string tasks_directory;  // absolute
  std::string launcher;
  std::vector<std::string> devices;         // one per slot: "cpu slot 0", a GPU's PCI address (and partition)
  std::vector<std::string> device_details;  // of GPUs: what was found, a JSON object each
  std::string architecture;                 // used for the platform filter; empty on CPU
  RunConfig config;
  std::string config_digest;  // sha256 of canonical_text(config)
  std::map<std::string, std::string> tool_versions;
  std::vector<PlannedTask> tasks;
  std::vector<SkippedTask> skipped;
};

std::string write_run_record(const RunRecord& record);  // sealed
Result<RunRecord> read_run_record(std::string_view text, const std::string& name);

}  // namespace arena
