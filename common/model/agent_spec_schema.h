#pragma once
// Names shared by the two files that implement agent_spec.h.
#include <string>
#include <vector>

namespace arena {

// Keys of the configuration's `agent:` that an agent may accept.
const std::vector<std::string>& agent_setting_names();

}  // namespace arena
