#pragma once
// What an agent that ended left behind: the files the evaluation takes over, and a sealed record. Published
// as a whole under .attempts/<slug>/candidate/, so that paid work survives a lost worker: a later attempt
// evaluates it without the agent.
#include <optional>

#include "model/task_result.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"
#include "worker/harness_guard.h"

namespace arena {

struct CandidateRecord {
  std::string run_id;
  std::string task_name;
  std::string task_digest;
  std::int64_t attempt = 0;
  std::string files_digest;  // of files/
  AgentOutcome agent;
  std::string proof;  // that no process of the agent was left
  Takeover takeover;
};

struct Candidate {
  fs::path files;
  CandidateRecord record;
};

std::string write_candidate_record(const CandidateRecord& record);  // sealed
Result<CandidateRecord> read_candidate_record(std::string_view text, const std::string& name);

// Copies the changed files out of `workspace` into `being_built`, syncs, and renames it into place, an older
// candidate aside (into its attempt's directory). Withstands power loss. Changed files that cannot be read
// become ignored and removed.
Result<Candidate> publish_candidate(FileSystem& disk, const QueueLayout& layout, const fs::path& workspace,
                                    const fs::path& being_built, CandidateRecord record);

// The published candidate of exactly this run and task, if it is there and whole.
std::optional<Candidate> find_candidate(FileSystem& disk, const QueueLayout& layout,
                                        const CandidateRecord& expected);

// Into `target`, a pristine copy: the removed files go, the changed ones come.
Status apply_candidate(const Candidate& candidate, const fs::path& target);

}  // namespace arena
