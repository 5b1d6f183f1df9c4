#pragma once
// One attempt at one task: workspace, baseline, agent, candidate, evaluation, result, in that order
// (docs/evaluation.md). It writes nothing into the queue's state directories; what becomes of the task is the
// worker loop's business.
#include <functional>
#include <map>
#include <optional>

#include "model/agent_spec.h"
#include "model/run_record.h"
#include "os/clock.h"
#include "os/directory_handle.h"
#include "os/file_system.h"
#include "os/process.h"
#include "queue/queue_layout.h"
#include "worker/agent.h"
#include "worker/agent_judgement.h"
#include "worker/assigned_device.h"
#include "worker/attempt_outcome.h"
#include "worker/attempt_result.h"
#include "worker/telemetry_recorder.h"
#include "worker/workspace.h"

namespace arena {

// What is the same for every task of a worker.
struct WorkerSetup {
  RunRecord run;
  AgentSpec agent;
  fs::path data_directory;   // prompts/
  fs::path cache_directory;  // clones
  std::string worker_id;
  std::string device;
  AssignedDevice assigned;  // what `device` names
  fs::path arena_probe;
  std::string reap_mode;       // how processes are kept track of, for the proofs
  EnvironmentMap environment;  // the worker's own; children get parts of it
  fs::path user_home = {};     // where login files are; empty: none
  std::string agent_version = {};
  std::chrono::milliseconds overload_delay{30'000};  // doubled each time
};

// What an attempt tells and asks its worker. An error of `report` (disk full) ends the attempt.
struct AttemptHooks {
  // A phase begins (empty log) or one of its commands does, whose output goes to `log`.
  std::function<Status(AttemptPhase phase, const fs::path& log)> report = [](AttemptPhase, const fs::path&) {
    return Status();
  };
  // Ends every descendant of the worker that is still alive: how many there were.
  std::function<Result<int>()> end_processes = [] { return Result<int>(0); };
};

// Single use, single-threaded; everything passed in outlives it.
class TaskRun {
 public:
  TaskRun(const WorkerSetup& setup, const QueueLayout& layout, FileSystem& disk, Clock& clock,
          ProcessRunner& runner, const TaskDescriptor& descriptor, AttemptHooks hooks);
  AttemptOutcome run();

 private:
  Status perform();
  Status prepare();
  Status read_task();
  Status obtain_seed();
  Status make_copy(const fs::path& target, Solution solution);
  Status make_workspace();
  Status run_baseline();
  Status run_agent_phase();
  Result<AgentRun> start_agent();
  Result<AgentPlace> agent_place();
  Status publish_agents_work(const AgentRun& agent);
  Status keep_record(const AgentRun& agent, const AgentJudgement& judgement, AgentOutcome& outcome);
  Status stop_for(AgentConsequence consequence, const AgentJudgement& judgement);
  Status evaluate();
  Status publish();
  Status begin(AttemptPhase phase);
  Status check_digest();
  Result<EnvironmentMap> environment_for(const std::string& side);
  Result<TaskCommands> commands_in(const fs::path& directory, const std::string& side);
  CandidateRecord new_record() const;
  void clean_up();

  const WorkerSetup& setup_;
  TelemetryRecorder telemetry_;
  const QueueLayout& layout_;
  FileSystem& disk_;
  Clock& clock_;
  ProcessRunner& runner_;
  const TaskDescriptor& descriptor_;
  AttemptHooks hooks_;

  const fs::path workspace_path_;
  const AttemptDirectory directory_;
  AttemptPhase phase_ = AttemptPhase::setup;
  SteadyTime phase_start_;
  TaskSource source_;
  TaskSpec spec_;
  std::vector<std::string> editable_;
  std::vector<std::string> solution_files_;
  PhaseLimits limits_;
  std::optional<DirectoryHandle> workspace_;
  std::optional<Candidate> candidate_;
  AttemptFacts facts_;
  std::string result_digest_;
  std::optional<AttemptOutcome> agent_stop_;  // why the attempt ends with the agent's phase
};

}  // namespace arena
