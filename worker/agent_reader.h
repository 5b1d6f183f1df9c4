#pragma once
// Reads the output of an agent while it comes: a readable log, what was used, and what the agent's own events
// say about how it went. Memory is bounded whatever the agent prints. Judges nothing: see agent_judgement.h.
#include <functional>
#include <string>
#include <string_view>

#include "worker/agent_events.h"

namespace arena {

struct AgentReading {
  std::string model;
  std::int64_t events = 0;
  std::int64_t tool_calls = 0;
  bool said = false;  // any text of the model
  AgentUsage usage;
  std::optional<bool> success;         // as its final event says; nothing without one
  std::string message;                 // of the final event
  std::optional<AgentResult> trouble;  // what its last events mean, if they mean trouble
  std::string trouble_text;
  std::string tail;  // the end of what it printed besides events, or at all in the plain dialect
};

// The two sinks outlive it. Not thread-safe.
class AgentReader {
 public:
  using Sink = std::function<void(std::string_view text)>;
  AgentReader(const AgentSpec& spec, Sink log) : spec_(spec), log_(std::move(log)) {}
  void take(std::string_view bytes);
  void finish();  // a last line without its end
  bool saw_final_event() const { return final_; }
  const AgentReading& reading() const { return reading_; }

 private:
  void read_line(std::string_view line);
  void read_event(const nlohmann::json& json);
  void apply_rules(const nlohmann::json& json, const AgentEvent& event);
  void add_to_tail(std::string_view text);

  const AgentSpec& spec_;
  Sink log_;
  std::string line_;           // the beginning of the line under way
  std::uint64_t skipped_ = 0;  // bytes of it that were not kept
  bool final_ = false;
  AgentReading reading_;
};

// Does the rule match? The scalar of its field is compared without regard to case.
bool rule_matches(const OutcomeRule& rule, std::string_view text);

}  // namespace arena
