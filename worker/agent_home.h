#pragma once
// The agent's own home: copies of the few files of the user's that its definition names. Nothing is ever
// written back, so the originals stay as they are, whatever the agent does.
#include "model/agent_spec.h"
#include "os/process.h"

namespace arena {

struct AgentHome {
  std::vector<std::string> secrets;  // that the copies hold, for the Redactor
  bool has_login = false;            // a login file was copied
  std::vector<std::string> notes;    // what a person should know
};

bool has_api_key(const AgentSpec& spec, const EnvironmentMap& environment);

// Copies what is there below `user_home` to `home`. A login file is left out when `environment` has one of
// the agent's API keys. A file that is not there is none of our business; one that cannot be copied is an
// error.
Result<AgentHome> furnish_agent_home(const AgentSpec& spec, const fs::path& user_home, const fs::path& home,
                                     const EnvironmentMap& environment);

// The variables of `spec` and `settings` that `caller` has, and the fixed ones, over `base`.
EnvironmentMap agent_environment(const AgentSpec& spec, const AgentSettings& settings,
                                 const EnvironmentMap& caller, EnvironmentMap base, const fs::path& home);

}  // namespace arena
