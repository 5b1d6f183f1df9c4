#include "worker/candidate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sealed_text.h"
#include "base/step.h"
#include "model/yaml.h"
#include "os/tree.h"

namespace arena {

namespace {

constexpr int kSchemaVersion = 1;
constexpr const char* kRecordFile = "record.yaml";
constexpr const char* kFiles = "files";
constexpr std::int64_t kMost = std::int64_t{1} << 62;

// What the agent did to a file that can no longer be read (mode 000, replaced) is that the file is gone.
Status copy_changed_files(const fs::path& workspace, const fs::path& files, Takeover& takeover) {
  std::vector<std::string> copied;
  for (std::string& path : takeover.changed) {
    Status done = copy_beneath(workspace, files, path);
    if (done) {
      copied.push_back(std::move(path));
    } else if (done.error().code == ErrorCode::no_space || done.error().code == ErrorCode::io) {
      return done;
    } else {
      takeover.removed.push_back(path);
      takeover.ignored.push_back(std::move(path));
    }
  }
  takeover.changed = std::move(copied);
  return {};
}

Status set_older_aside(FileSystem& disk, const QueueLayout& layout, const std::string& task_name,
                       std::int64_t attempt) {
  const fs::path published = layout.candidate(task_name);
  ARENA_ASSIGN(const bool there, disk.exists(published));
  if (!there) return {};
  const fs::path archive = layout.attempt(task_name, attempt - 1);
  ARENA_TRY(make_directories(disk, archive));
  return disk.rename(published, temporary_name(archive / "candidate"), Replace::no);
}

}  // namespace

std::string write_candidate_record(const CandidateRecord& record) {
  YamlWriter yaml;
  yaml.integer("schema_version", kSchemaVersion)
      .string("run_id", record.run_id)
      .string("task_name", record.task_name)
      .string("task_digest", record.task_digest)
      .integer("attempt", record.attempt)
      .string("files_digest", record.files_digest);
  yaml.begin_mapping("agent").string("end", record.agent.end).boolean("ok", record.agent.ok);
  if (!record.agent.result.empty()) yaml.string("result", record.agent.result);
  if (!record.agent.model.empty()) yaml.string("model", record.agent.model);
  if (!record.agent.version.empty()) yaml.string("version", record.agent.version);
  if (record.agent.cost_usd) yaml.number("cost_usd", *record.agent.cost_usd);
  if (record.agent.tokens) yaml.integer("tokens", *record.agent.tokens);
  yaml.integer("duration_ms", record.agent.duration_ms).end_mapping();
  yaml.string("proof", record.proof)
      .string_list("changed_files", record.takeover.changed)
      .string_list("removed_files", record.takeover.removed)
      .string_list("ignored_changes", record.takeover.ignored);
  return seal(yaml.take());
}

Result<CandidateRecord> read_candidate_record(std::string_view text, const std::string& name) {
  ARENA_ASSIGN(const std::string_view body, unseal(text, name));
  ARENA_ASSIGN(const YamlNode document, parse_yaml(body, name));
  MappingReader reader(document, name, "");
  CandidateRecord record;
  if (reader.integer("schema_version", 1, kMost).value_or(0) != kSchemaVersion) {
    return fail(ErrorCode::corrupt,
                fmt::format("'{}' has a schema version that this arena does not know", name));
  }
  record.run_id = reader.required_string("run_id");
  record.task_name = reader.required_string("task_name");
  record.task_digest = reader.required_string("task_digest");
  record.attempt = reader.integer("attempt", 1, kMost).value_or(0);
  record.files_digest = reader.required_string("files_digest");
  record.proof = reader.string("proof").value_or("");
  record.takeover.changed = reader.string_list("changed_files").value_or(std::vector<std::string>{});
  record.takeover.removed = reader.string_list("removed_files").value_or(std::vector<std::string>{});
  record.takeover.ignored = reader.string_list("ignored_changes").value_or(std::vector<std::string>{});
  const YamlNode* agent_node = reader.node("agent");
  ARENA_TRY(reader.finish(UnknownKeys::ignore, nullptr));
  if (agent_node == nullptr)
    return fail(ErrorCode::corrupt, fmt::format("'{}' does not say how the agent ended", name));
  MappingReader agent(*agent_node, name, "agent");
  record.agent.end = agent.required_string("end");
  record.agent.ok = agent.boolean("ok").value_or(false);
  record.agent.result = agent.string("result").value_or("");
  record.agent.model = agent.string("model").value_or("");
  record.agent.version = agent.string("version").value_or("");
  record.agent.cost_usd = agent.number("cost_usd");
  record.agent.tokens = agent.integer("tokens", 0, kMost);
  record.agent.duration_ms = agent.integer("duration_ms", 0, kMost).value_or(0);
  ARENA_TRY(agent.finish(UnknownKeys::ignore, nullptr));
  return record;
}

Result<Candidate> publish_candidate(FileSystem& disk, const QueueLayout& layout, const fs::path& workspace,
                                    const fs::path& being_built, CandidateRecord record) {
  const fs::path files = being_built / kFiles;
  ARENA_TRY(remove_tree(being_built));
  ARENA_TRY(make_directories(disk, files));
  ARENA_TRY(copy_changed_files(workspace, files, record.takeover));
  ARENA_ASSIGN(record.files_digest, digest_tree(files, CopyOptions{}));
  ARENA_TRY(disk.create(being_built / kRecordFile, write_candidate_record(record), Sync::yes));
  ARENA_TRY(sync_files(files, record.takeover.changed));
  ARENA_TRY(disk.sync_directory(being_built));
  ARENA_TRY(set_older_aside(disk, layout, record.task_name, record.attempt));
  const fs::path published = layout.candidate(record.task_name);
  ARENA_TRY(disk.rename(being_built, published, Replace::no));
  ARENA_TRY(disk.sync_directory(published.parent_path()));
  step("attempt.candidate");
  return Candidate{published / kFiles, std::move(record)};
}

std::optional<Candidate> find_candidate(FileSystem& disk, const QueueLayout& layout,
                                        const CandidateRecord& expected) {
  const fs::path published = layout.candidate(expected.task_name);
  const auto text = disk.read(published / kRecordFile);
  if (!text) return std::nullopt;
  auto record = read_candidate_record(*text, (published / kRecordFile).string());
  if (!record || record->run_id != expected.run_id || record->task_name != expected.task_name ||
      record->task_digest != expected.task_digest) {
    return std::nullopt;
  }
  const auto digest = digest_tree(published / kFiles, CopyOptions{});
  if (!digest || *digest != record->files_digest) return std::nullopt;
  return Candidate{published / kFiles, std::move(*record)};
}

Status apply_candidate(const Candidate& candidate, const fs::path& target) {
  for (const std::string& path : candidate.record.takeover.removed) ARENA_TRY(remove_beneath(target, path));
  for (const std::string& path : candidate.record.takeover.changed) {
    ARENA_TRY(copy_beneath(candidate.files, target, path));
  }
  return {};
}

}  // namespace arena
