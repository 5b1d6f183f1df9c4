#include "worker/agent_judgement.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace arena {

namespace {

// Where tokens are reported they say whether the model worked; elsewhere its words do.
bool used_tokens(const AgentReading& reading) {
  return reading.usage.output_tokens ? *reading.usage.output_tokens > 0 : reading.said;
}

bool did_nothing(const AgentReading& reading, bool changed) {
  return !changed && reading.tool_calls == 0 && !used_tokens(reading);
}

std::string with_reason(const std::string& text, std::string_view reason) {
  std::string shown = to_printable_utf8(trim(reason).substr(0, 500));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return shown.empty() ? text : text + ": " + shown;
}

// Rules for mere text, which count only where nothing was done.
std::optional<AgentJudgement> judge_text(const AgentSpec& spec, const AgentReading& reading) {
  for (const OutcomeRule& rule : spec.outcomes) {
    if (!rule.event.empty()) continue;
    for (const std::string& text : {reading.message, reading.tail}) {
      if (rule_matches(rule, text)) {
        const std::string_view last = trim(text);
        return AgentJudgement{
            rule.outcome, with_reason(std::string(name_of(rule.outcome)), last.substr(last.rfind('\n') + 1))};
      }
    }
  }
  return std::nullopt;
}

// The end comes first: it is what people look for. The last line of the output often says why.
AgentJudgement failed(const AgentReading& reading, const std::string& how) {
  const std::string_view tail = trim(reading.tail);
  return {AgentResult::failed, with_reason(how, tail.substr(tail.rfind('\n') + 1))};
}

}  // namespace

AgentJudgement judge_agent(const AgentSpec& spec, const AgentReading& reading, const ProcessEnd& end,
                           bool changed) {
  const auto* const timed_out = std::get_if<TimedOut>(&end);
  const auto* const exited = std::get_if<Exited>(&end);
  const bool plain = spec.dialect == AgentDialect::plain;
  const AgentResult worked = changed ? AgentResult::done : AgentResult::done_without_change;
  if (reading.trouble && (*reading.trouble != AgentResult::failed || timed_out == nullptr)) {
    return {*reading.trouble, with_reason(describe(end), reading.trouble_text)};
  }
  if (reading.success == true) {
    if (did_nothing(reading, changed)) {
      if (auto told = judge_text(spec, reading)) return *told;
      return {AgentResult::empty,
              with_reason("reported success without a token, a tool call or a change", reading.message)};
    }
    return {worked, describe(end)};
  }
  if (timed_out != nullptr) return {AgentResult::timed_out, describe(end)};
  if (did_nothing(reading, changed)) {
    if (auto told = judge_text(spec, reading)) return *told;
  }
  if (plain && exited != nullptr && exited->code == 0) return {worked, describe(end)};
  return failed(reading, plain ? describe(end) : describe(end) + " without a final event");
}

AgentConsequence consequence_of(const AgentSpec& spec, AgentResult result, const AgentReading& reading,
                                bool changed) {
  if (result == AgentResult::quota || result == AgentResult::auth) return AgentConsequence::halt;
  if (changed) return AgentConsequence::evaluate;
  switch (result) {
    case AgentResult::overload:
      return AgentConsequence::back_off;
    case AgentResult::failed:
    case AgentResult::empty:
      return AgentConsequence::no_score;
    case AgentResult::timed_out:
      // A program that is not listened to may have worked all the time.
      return spec.dialect != AgentDialect::plain && did_nothing(reading, changed)
                 ? AgentConsequence::time_out
                 : AgentConsequence::evaluate;
    default:
      return AgentConsequence::evaluate;
  }
}

}  // namespace arena
