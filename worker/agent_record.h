#pragma once
// What is kept about an agent's work at a task, for people and for the bill: agent/cost.yaml and
// agent_costs/<slug>.yaml (every attempt and their sum; what the provider did not report is null), and
// agent/invocation.yaml (how it was started and how it ended).
#include "model/agent_spec.h"
#include "os/file_system.h"
#include "worker/agent.h"
#include "worker/agent_judgement.h"

namespace arena {

struct AttemptCost {
  std::int64_t attempt = 0;
  std::string result;
  std::string model;
  AgentUsage usage;
  std::int64_t duration_ms = 0;
};

struct CostRecord {
  std::string task_name;
  std::string agent;
  std::vector<AttemptCost> attempts;  // one each, in order
  AgentUsage total() const;           // of what was reported
};

std::string write_cost_record(const CostRecord& record);
Result<CostRecord> read_cost_record(std::string_view text, const std::string& name);

// Adds the attempt to the record at `file` (one that cannot be read is set aside beside it), and writes the
// same to `copy`.
Result<CostRecord> add_cost(FileSystem& disk, const fs::path& file, const fs::path& copy,
                            const std::string& task_name, const std::string& agent, AttemptCost cost);

std::string write_invocation(const AgentRun& run, const AgentJudgement& judgement, const AgentSpec& spec,
                             const std::string& version, const std::string& model);

}  // namespace arena
