#pragma once
// First lines of `TOOL --version`, recorded in run.yaml: results of next year are compared with those of
// today.
#include <map>
#include <string>

namespace arena {

// Tools that are not there are absent; one that does not answer within a second is "no answer".
std::map<std::string, std::string> read_tool_versions();

}  // namespace arena
