#include "worker/agent_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace arena {

namespace {

using nlohmann::json;

// No event that matters is that long; a tool's output may be.
constexpr std::size_t kLongestLine = std::size_t{2} << 20;
constexpr std::size_t kTail = std::size_t{16} << 10;

}  // namespace

bool rule_matches(const OutcomeRule& rule, std::string_view text) {
  const std::string lower = to_lower(text);
  return std::any_of(rule.equals.begin(), rule.equals.end(),
                     [&](const std::string& value) { return lower == to_lower(value); }) ||
         std::any_of(rule.contains.begin(), rule.contains.end(),
                     [&](const std::string& value) { return contains(lower, to_lower(value)); });
}

void AgentReader::take(std::string_view bytes) {
  if (spec_.dialect == AgentDialect::plain) return add_to_tail(bytes);
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    const std::size_t room = kLongestLine - std::min(kLongestLine, line_.size());
    line_ += piece.substr(0, room);
    skipped_ += piece.size() - std::min(room, piece.size());
    if (end == std::string_view::npos) return;
    finish();
    bytes.remove_prefix(end + 1);
  }
}

void AgentReader::finish() {
  if (skipped_ > 0) {
    log_(fmt::format("(a line of {} bytes, not read)\n", line_.size() + skipped_));
  } else if (!trim(line_).empty()) {
    read_line(line_);
  }
  line_.clear();
  if (skipped_ > 0) line_.shrink_to_fit();
  skipped_ = 0;
}

// Invalid UTF-8 and NULs are replaced before the parser sees them: one bad byte of a tool's output must not
// hide the event around it.
void AgentReader::read_line(std::string_view line) {
  const std::string clean = to_printable_utf8(trim(line));
  if (clean.front() == '{') {
    const json parsed = json::parse(clean, nullptr, false);
    if (parsed.is_object()) return read_event(parsed);
  }
  add_to_tail(clean + "\n");
  log_(clean + "\n");
}

void AgentReader::read_event(const json& json) {
  const AgentEvent event = read_agent_event(spec_.dialect, json);
  ++reading_.events;
  reading_.tool_calls += event.tool_calls;
  reading_.said = reading_.said || event.said;
  if (!event.model.empty()) reading_.model = event.model;
  if (event.usage && event.usage_kind == AgentEvent::Usage::is_total) {
    reading_.usage = *event.usage;
  } else if (event.usage) {
    reading_.usage.add(*event.usage);
  }
  const bool is_final =
      std::find(spec_.final_events.begin(), spec_.final_events.end(), event.type) != spec_.final_events.end();
  if (event.progress || event.success == true) {
    reading_.trouble.reset();
    reading_.trouble_text.clear();
  }
  if (is_final) {
    final_ = true;
    reading_.success = event.success.value_or(true);
    reading_.message = event.message;
  }
  apply_rules(json, event);
  if (!event.text.empty()) log_(event.text + "\n");
}

void AgentReader::apply_rules(const json& json, const AgentEvent& event) {
  for (const OutcomeRule& rule : spec_.outcomes) {
    if (rule.event.empty() || rule.event != event.type) continue;
    // What a successful session says is the model's own text: it may speak of quotas as it likes.
    if (!rule.contains.empty() && event.success == true) continue;
    const auto value = scalar_at(json, rule.field);
    if (!value || !rule_matches(rule, *value)) continue;
    reading_.trouble = rule.outcome;
    reading_.trouble_text =
        event.message.empty() ? fmt::format("{}: {} is {}", event.type, rule.field, *value) : event.message;
    return;
  }
  if (event.success == false && !reading_.trouble) {
    reading_.trouble = AgentResult::failed;
    reading_.trouble_text = event.message;
  }
}

void AgentReader::add_to_tail(std::string_view text) {
  reading_.tail += text.substr(text.size() - std::min(text.size(), kTail));
  if (reading_.tail.size() > 2 * kTail) reading_.tail.erase(0, reading_.tail.size() - kTail);
}

}  // namespace arena
