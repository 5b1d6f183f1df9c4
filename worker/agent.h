#pragma once
// Runs the agent of a run in its workspace, as its definition (worker/agents/<name>.yaml) says.
#include "model/agent_spec.h"
#include "model/task_result.h"
#include "os/process.h"

namespace arena {

// Where and with what an agent works.
struct AgentPlace {
  std::string task_name;
  fs::path workspace;
  fs::path prompt_file;
  fs::path log;
  EnvironmentMap environment;  // what every child gets; the definition's own variables are added
  std::uint64_t output_limit = 16 << 20;
};

struct AgentRun {
  AgentOutcome outcome;
  bool left_processes = false;  // it had started some that outlived it; they were ended
};

// Starts the program of an agent whose action is `run`. An agent that fails or runs out of time is an
// outcome, and its tree is evaluated all the same. Errors: it could not be started (agent_error), or the
// worker was asked to stop (cancelled).
Result<AgentRun> run_agent(ProcessRunner& runner, const AgentSpec& spec, const AgentSettings& settings,
                           const EnvironmentMap& caller_environment, const AgentPlace& place);

// The files of a reference solution that the task lets a candidate change, relative to `solution`; an error
// if there are none.
Result<std::vector<std::string>> find_solution_files(const fs::path& solution,
                                                     const std::vector<std::string>& editable);

// The oracle: puts those files over the workspace's.
Result<AgentRun> apply_solution(const fs::path& solution, const std::vector<std::string>& files,
                                const fs::path& workspace);

}  // namespace arena
