#include "model/event.h"

#include <limits>
#include <optional>

#include <nlohmann/json.hpp>

namespace arena {

namespace {

using Json = nlohmann::json;

void put_if_set(nlohmann::ordered_json& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

// nlohmann converts any number to any other, out of range too: only a count that fits is one.
bool is_count(const Json& value) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
}

// Nothing for an event of another shape; some of them throw nlohmann's type error.
std::optional<Event> event_from(const Json& object) {
  if (object.contains("attempt") && !is_count(object["attempt"])) return std::nullopt;
  Event event;
  event.time = object.at("time").get<std::string>();
  event.kind = object.at("kind").get<std::string>();
  event.writer = object.at("writer").get<std::string>();
  event.task = object.value("task", "");
  event.attempt = object.value("attempt", std::int64_t{0});
  event.phase = object.value("phase", "");
  event.cause = object.value("cause", "");
  event.message = object.value("message", "");
  event.more = object.value("more", std::map<std::string, std::string>{});
  return event;
}

}  // namespace

std::string write_event(const Event& event) {
  nlohmann::ordered_json object;
  object["time"] = event.time;
  object["kind"] = event.kind;
  object["writer"] = event.writer;
  put_if_set(object, "task", event.task);
  if (event.attempt != 0) object["attempt"] = event.attempt;
  put_if_set(object, "phase", event.phase);
  put_if_set(object, "cause", event.cause);
  put_if_set(object, "message", event.message);
  if (!event.more.empty()) object["more"] = event.more;
  // Messages may quote output of any bytes: what is not UTF-8 is replaced, not thrown at us.
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

std::vector<Event> read_events(std::string_view text) {
  std::vector<Event> events;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    try {
      if (auto event = event_from(Json::parse(line.begin(), line.end()))) events.push_back(std::move(*event));
    } catch (const Json::exception&) {
      continue;  // torn or foreign; the other lines still count
    }
  }
  return events;
}

}  // namespace arena
