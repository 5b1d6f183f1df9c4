#pragma once
// Runs the agent of a run in its workspace, as its definition (worker/agents/<name>.yaml) says.
#include "model/agent_spec.h"
#include "model/task_result.h"
#include "os/process.h"
#include "worker/agent_reader.h"

namespace arena {

// Where and with what an agent works.
struct AgentPlace {
  PlaceholderValues values;  // place_placeholder_names(), but home
  fs::path workspace;
  fs::path prompt_file;
  fs::path directory;          // what is kept about it: transcript, log, …; exists
  fs::path home;               // its own
  fs::path user_home;          // login files are copied from there; empty: none
  EnvironmentMap environment;  // what every child gets; the definition's own variables are added
  std::uint64_t output_limit = 16 << 20;
};

struct AgentRun {
  ProcessEnd end = Exited{0};
  std::chrono::milliseconds duration{0};
  AgentReading reading;
  bool left_processes = false;    // it had started some that outlived it; they were ended
  std::vector<std::string> argv;  // without secrets, as everything here
  std::vector<std::string> environment_names;
  std::vector<std::string> notes;
  std::string done;  // of an agent that is no program: what was done
};

// The files in AgentPlace::directory.
std::string transcript_name(
    AgentDialect dialect);  // what it printed; the readable log itself for plain output
inline constexpr const char* kAgentLog = "log.txt";
inline constexpr const char* kAgentErrors = "stderr.txt";

// Starts the program of an agent whose action is `run`. An agent that fails or runs out of time is an
// outcome, for judge_agent. Errors: it could not be started (agent_error), or the worker was asked to stop
// (cancelled).
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
