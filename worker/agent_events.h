#pragma once
// What one event of an agent's output means, per dialect. Pure.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "model/agent_spec.h"

namespace arena {

// As the provider reported it; what it did not report is unknown.
struct AgentUsage {
  std::optional<std::int64_t> input_tokens;   // with those written to a cache, without those read from one
  std::optional<std::int64_t> cached_tokens;  // read from a cache
  std::optional<std::int64_t> output_tokens;
  std::optional<double> cost_usd;
  std::optional<std::int64_t> total_tokens() const;
  void add(const AgentUsage& more);  // an unknown plus something is that something
};

struct AgentEvent {
  std::string type;       // "result"; "system.init" where the dialect has subtypes of system events
  std::string text;       // for the readable log; may be of several lines
  bool progress = false;  // the model did something
  bool said = false;      // it was text
  int tool_calls = 0;
  std::optional<bool> success;  // of an event that ends the session
  std::string message;          // its text, or what went wrong
  std::string model;
  std::optional<AgentUsage> usage;
  enum class Usage { adds, is_total } usage_kind = Usage::adds;
};

// `event` is whatever a line of output held: any JSON value.
AgentEvent read_agent_event(AgentDialect dialect, const nlohmann::json& event);

// The scalar at a dotted path as text ("error.message", "api_error_status"); nothing if there is none.
std::optional<std::string> scalar_at(const nlohmann::json& value, const std::string& path);

}  // namespace arena
