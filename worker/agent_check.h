#pragma once
// Whether an agent can work here: found, version, logged in, what it requires, and a one-line prompt through
// the very invocation of a run. In a container it runs in the container.
#include "model/agent_spec.h"
#include "os/file_system.h"
#include "os/process.h"

namespace arena {

// The definition in <data>/agents/, checked against the settings.
Result<AgentSpec> load_agent(FileSystem& disk, const fs::path& data_directory, const AgentSettings& settings);

struct AgentFinding {
  std::string what;  // program, login, answer, …
  bool ok = false;
  std::string detail;  // version, what went wrong
  std::string mend;    // a command or sentence, of what is not ok
};

inline constexpr std::chrono::seconds kAgentCheckLimit{30};  // for each step

// Stops at the first step that fails: the next ones need it. `scratch` exists and is the caller's to remove.
std::vector<AgentFinding> check_agent(ProcessRunner& runner, const AgentSpec& spec,
                                      const AgentSettings& settings, const EnvironmentMap& environment,
                                      const fs::path& user_home, const fs::path& scratch);

// The first line that its version command prints; empty if there is none or it fails.
std::string read_agent_version(ProcessRunner& runner, const AgentSpec& spec,
                               const EnvironmentMap& environment);

}  // namespace arena
