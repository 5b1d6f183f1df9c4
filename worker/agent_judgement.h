#pragma once
// How an agent's work ended, judged from its final event, what it used, what it changed and how its program
// exited, together. Pure.
#include <string>

#include "os/process.h"
#include "worker/agent_reader.h"

namespace arena {

struct AgentJudgement {
  AgentResult result = AgentResult::done;
  std::string text;  // for people, one line
};

// `changed`: the sources that count are not what they were.
// - Events decide over the exit code, in both directions; the program's text only where nothing at all was
//   done, because an agent can print anything.
// - A timer that ends a program after its final event takes nothing from what that event said.
AgentJudgement judge_agent(const AgentSpec& spec, const AgentReading& reading, const ProcessEnd& end,
                           bool changed);

// What becomes of the attempt.
enum class AgentConsequence {
  evaluate,  // what the agent left counts
  no_score,  // it did nothing: an error of the agent, nothing to evaluate
  time_out,  // likewise, when its time ran out
  back_off,  // the provider's trouble: tried again later, an attempt is used up
  halt,      // quota or login: no attempt is used up, nothing more is claimed
};
AgentConsequence consequence_of(const AgentSpec& spec, AgentResult result, const AgentReading& reading,
                                bool changed);

}  // namespace arena
