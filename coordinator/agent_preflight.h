#pragma once
// Asks arena-worker, where workers run, whether an agent can work there (`arena-worker check-agent`), and
// shows what it found.
#include "coordinator/commands.h"
#include "model/run_config.h"

namespace arena {

// One line a finding, every failure with what mends it. True if all is well. With `only_problems` what is
// well is not shown.
enum class Shown { everything, only_problems };
Result<bool> check_agent_of(const RunConfig& config, const World& world, Shown shown, bool json);

// Before a run: invalid_input when the configured agent cannot work. Agents that need no program of their own
// pass unasked.
Status preflight(const RunConfig& config, const World& world, const Options& options);

// Runs arena-worker with a temporary run configuration (`--settings FILE`) and the environment an agent of
// that configuration would get: what it printed, and its exit code.
struct HelperAnswer {
  int code = 0;
  std::string output;
};
Result<HelperAnswer> ask_worker(const RunConfig& config, const World& world, std::vector<std::string> words);

}  // namespace arena
