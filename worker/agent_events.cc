#include "worker/agent_events.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace arena {

namespace {

using nlohmann::json;

constexpr std::size_t kMostShown = 4000;

// Members of anything: what is missing or of another type is empty, never an exception.
const json& member(const json& value, const char* key) {
  static const json kNothing;
  if (!value.is_object()) return kNothing;
  const auto found = value.find(key);
  return found == value.end() ? kNothing : *found;
}
std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}
std::optional<std::int64_t> count_of(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > (std::uint64_t{1} << 62))
    return std::nullopt;
  const auto number = value.get<std::int64_t>();
  return number >= 0 ? std::optional(number) : std::nullopt;
}
const json::array_t& items_of(const json& value) {
  static const json::array_t kNone;
  return value.is_array() ? *value.get_ptr<const json::array_t*>() : kNone;
}

std::string shortened(std::string_view text, std::size_t most = kMostShown) {
  text = trim(text);
  if (text.size() <= most) return std::string(text);
  return fmt::format("{} … ({} more bytes)", text.substr(0, most), text.size() - most);
}

void add_line(std::string& text, std::string_view line) {
  if (line.empty()) return;
  if (!text.empty()) text += '\n';
  text += line;
}

// The arguments of a tool call in one line: the one that says most, else those that are short.
std::string describe_arguments(const json& arguments) {
  for (const char* key : {"command", "cmd", "file_path", "path", "pattern", "query", "url", "prompt"}) {
    if (const std::string value = text_of(member(arguments, key)); !value.empty())
      return shortened(value, 500);
  }
  std::string text;
  if (arguments.is_object()) {
    for (const auto& [key, value] : arguments.items()) {
      const bool says_nothing = key == "id" || key == "type" || key == "status";
      if (says_nothing || text.size() > 300 || !value.is_primitive()) continue;
      const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, shortened(shown, 100));
    }
  }
  return text;
}

std::string describe_usage(const AgentUsage& usage) {
  std::string text;
  if (usage.cost_usd) text += fmt::format(", {:.4f} USD", *usage.cost_usd);
  if (usage.input_tokens) text += fmt::format(", {} tokens in", *usage.input_tokens);
  if (usage.cached_tokens) text += fmt::format(", {} cached", *usage.cached_tokens);
  if (usage.output_tokens) text += fmt::format(", {} out", *usage.output_tokens);
  return text;
}

// Text of a message's `content`: a string, or blocks with text.
std::string content_text(const json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  for (const json& block : items_of(content)) add_line(text, text_of(member(block, "text")));
  return text;
}

std::string describe_end(const AgentEvent& event) {
  return fmt::format("== {}{}{}", *event.success ? "ended" : "failed",
                     event.usage ? describe_usage(*event.usage) : "",
                     event.message.empty() ? "" : ": " + shortened(event.message));
}

// --- Claude Code: --output-format stream-json ---

AgentUsage claude_usage(const json& usage) {
  AgentUsage read;
  read.input_tokens = count_of(member(usage, "input_tokens"));
  if (const auto written = count_of(member(usage, "cache_creation_input_tokens")))
    read.input_tokens = read.input_tokens.value_or(0) + *written;
  read.cached_tokens = count_of(member(usage, "cache_read_input_tokens"));
  read.output_tokens = count_of(member(usage, "output_tokens"));
  return read;
}

void read_claude_message(const json& event, AgentEvent& read) {
  // What the program itself wrote in the model's place is no progress.
  const bool is_error = member(event, "error").is_string();
  for (const json& block : items_of(member(member(event, "message"), "content"))) {
    const std::string type = text_of(member(block, "type"));
    if (type == "text") {
      add_line(read.text, shortened(text_of(member(block, "text"))));
      read.said = read.said || !is_error;
    } else if (type == "tool_use") {
      ++read.tool_calls;
      add_line(read.text, fmt::format("> {} {}", text_of(member(block, "name")),
                                      describe_arguments(member(block, "input"))));
    }
    read.progress = read.progress || !is_error;
  }
}

void read_claude_tool_results(const json& event, AgentEvent& read) {
  for (const json& block : items_of(member(member(event, "message"), "content"))) {
    if (text_of(member(block, "type")) == "tool_result")
      add_line(read.text, shortened(content_text(member(block, "content")), 1000));
  }
}

// Usage before the final event: what a session that is killed has used all the same.
void read_claude_stream(const json& event, AgentEvent& read) {
  const json& inner = member(event, "event");
  const std::string type = text_of(member(inner, "type"));
  if (type == "message_start") {
    read.usage = claude_usage(member(member(inner, "message"), "usage"));
    read.usage->output_tokens.reset();  // message_delta has the whole of it
  } else if (type == "message_delta") {
    read.usage.emplace();
    read.usage->output_tokens = count_of(member(member(inner, "usage"), "output_tokens"));
  }
}

void read_claude_result(const json& event, AgentEvent& read) {
  const json& failed = member(event, "is_error");
  read.success =
      text_of(member(event, "subtype")) == "success" && !(failed.is_boolean() && failed.get<bool>());
  read.message = text_of(member(event, "result"));
  for (const json& error : items_of(member(event, "errors"))) add_line(read.message, text_of(error));
  if (read.message.empty() && !*read.success) read.message = text_of(member(event, "subtype"));
  read.usage = claude_usage(member(event, "usage"));
  const json& cost = member(event, "total_cost_usd");
  if (cost.is_number() && cost.get<double>() >= 0) read.usage->cost_usd = cost.get<double>();
  read.usage_kind = AgentEvent::Usage::is_total;
  read.text = describe_end(read);
}

void read_claude(const json& event, AgentEvent& read) {
  if (read.type == "system") {
    const std::string subtype = text_of(member(event, "subtype"));
    read.type += "." + subtype;
    read.model = text_of(member(event, "model"));
    if (subtype == "init") read.text = fmt::format("== model {}", read.model);
    if (subtype == "api_retry") {
      read.text = fmt::format("== request failed ({} {}), tries again",
                              scalar_at(event, "error_status").value_or("no answer"),
                              text_of(member(event, "error")));
    }
  } else if (read.type == "assistant") {
    read_claude_message(event, read);
  } else if (read.type == "user") {
    read_claude_tool_results(event, read);
  } else if (read.type == "stream_event") {
    read_claude_stream(event, read);
  } else if (read.type == "result") {
    read_claude_result(event, read);
  }
}

// --- Codex: exec --json ---

void read_codex_item(const json& event, AgentEvent& read) {
  const json& item = member(event, "item");
  const std::string type = text_of(member(item, "type"));
  const bool completed = read.type == "item.completed";
  read.progress = completed && type != "error";
  if (type == "agent_message" && completed) {
    read.said = true;
    read.text = shortened(text_of(member(item, "text")));
  } else if (type == "command_execution") {
    if (completed) {
      ++read.tool_calls;
      read.text = shortened(text_of(member(item, "aggregated_output")), 1000);
    } else if (read.type == "item.started") {
      read.text = "> " + shortened(text_of(member(item, "command")), 500);
    }
  } else if (type == "error" && completed) {
    read.text = "== " + shortened(text_of(member(item, "message")));
  } else if (completed && type != "reasoning") {
    ++read.tool_calls;
    read.text = fmt::format("> {} {}", type, describe_arguments(item));
    for (const json& change : items_of(member(item, "changes")))
      add_line(read.text,
               fmt::format("  {} {}", text_of(member(change, "kind")), text_of(member(change, "path"))));
  }
}

void read_codex(const json& event, AgentEvent& read) {
  if (read.type.starts_with("item.")) {
    read_codex_item(event, read);
  } else if (read.type == "error") {
    read.message = text_of(member(event, "message"));
    read.text = "== " + shortened(read.message);
  } else if (read.type == "turn.completed") {
    const json& usage = member(event, "usage");
    read.success = true;
    read.usage.emplace();
    const auto input = count_of(member(usage, "input_tokens"));
    read.usage->cached_tokens = count_of(member(usage, "cached_input_tokens"));
    if (input)
      read.usage->input_tokens = std::max<std::int64_t>(0, *input - read.usage->cached_tokens.value_or(0));
    read.usage->output_tokens = count_of(member(usage, "output_tokens"));
    read.text = describe_end(read);
  } else if (read.type == "turn.failed") {
    read.success = false;
    read.message = text_of(member(member(event, "error"), "message"));
    read.text = describe_end(read);
  }
}

// --- Cursor: --output-format stream-json ---

void read_cursor_tool(const json& event, AgentEvent& read) {
  const bool started = text_of(member(event, "subtype")) == "started";
  read.progress = true;
  const json& call = member(event, "tool_call");
  if (!started || !call.is_object() || call.empty()) return;
  ++read.tool_calls;
  read.text = fmt::format("> {} {}", call.begin().key(), describe_arguments(member(*call.begin(), "args")));
}

void read_cursor_result(const json& event, AgentEvent& read) {
  const json& failed = member(event, "is_error");
  read.success =
      text_of(member(event, "subtype")) == "success" && !(failed.is_boolean() && failed.get<bool>());
  read.message = text_of(member(event, "result"));
  const json& usage = member(event, "usage");
  if (usage.is_object()) {
    read.usage.emplace();
    read.usage->input_tokens = count_of(member(usage, "inputTokens"));
    read.usage->cached_tokens = count_of(member(usage, "cacheReadTokens"));
    read.usage->output_tokens = count_of(member(usage, "outputTokens"));
    read.usage_kind = AgentEvent::Usage::is_total;
  }
  read.text = describe_end(read);
}

void read_cursor(const json& event, AgentEvent& read) {
  if (read.type == "system") {
    read.type += "." + text_of(member(event, "subtype"));
    read.model = text_of(member(event, "model"));
    if (!read.model.empty()) read.text = "== model " + read.model;
  } else if (read.type == "assistant") {
    // With a time but without the id of its call it is a piece of a message that comes whole later.
    const bool piece = event.contains("timestamp_ms") && !event.contains("model_call_id");
    const std::string text = content_text(member(member(event, "message"), "content"));
    read.progress = read.said = !text.empty();
    if (!piece) read.text = shortened(text);
  } else if (read.type == "tool_call") {
    read_cursor_tool(event, read);
  } else if (read.type == "result") {
    read_cursor_result(event, read);
  }
}

}  // namespace

std::optional<std::int64_t> AgentUsage::total_tokens() const {
  if (!input_tokens && !cached_tokens && !output_tokens) return std::nullopt;
  return input_tokens.value_or(0) + cached_tokens.value_or(0) + output_tokens.value_or(0);
}

void AgentUsage::add(const AgentUsage& more) {
  static constexpr std::int64_t kMost = std::int64_t{1} << 62;
  const auto sum = [](std::optional<std::int64_t>& to, const std::optional<std::int64_t>& from) {
    if (from) to = std::min(kMost, to.value_or(0) + std::min(*from, kMost - to.value_or(0)));
  };
  sum(input_tokens, more.input_tokens);
  sum(cached_tokens, more.cached_tokens);
  sum(output_tokens, more.output_tokens);
  if (more.cost_usd) cost_usd = cost_usd.value_or(0) + *more.cost_usd;
}

std::optional<std::string> scalar_at(const json& value, const std::string& path) {
  const json* at = &value;
  for (const std::string& key : split(path, ".")) at = &member(*at, key.c_str());
  if (at->is_string()) return at->get<std::string>();
  if (at->is_boolean() || at->is_number()) return at->dump();
  return std::nullopt;
}

AgentEvent read_agent_event(AgentDialect dialect, const json& event) {
  AgentEvent read;
  read.type = text_of(member(event, "type"));
  switch (dialect) {
    case AgentDialect::plain:
      break;
    case AgentDialect::claude:
      read_claude(event, read);
      break;
    case AgentDialect::codex:
      read_codex(event, read);
      break;
    case AgentDialect::cursor:
      read_cursor(event, read);
      break;
  }
  return read;
}

}  // namespace arena
