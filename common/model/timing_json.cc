#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "model/timing_report.h"

namespace arena {

namespace {

using Json = nlohmann::json;

// Times without "_ms" first in v0.2's order of trust: what a device clock measured, then what the task calls
// its time.
constexpr std::array kDeviceTimes = {"device_time",     "gpu_time",        "kernel_time",
                                     "cuda_event_time", "cuda_graph_time", "execution_time"};
constexpr std::array kHostTimes = {"host_time_ms", "wall_time_ms", "elapsed_time_ms", "total_time_ms",
                                   "end_to_end_time_ms"};
constexpr std::array kUnits = {kMilliseconds, kMicroseconds, kNanoseconds, kSeconds};

// Keys of a bare report that describe one measurement, and keys that are no kernel's time at all.
constexpr std::array kCentralStatistics = {"mean", "average", "avg", "median", "min"};
constexpr std::array kNoKernelTimes = {
    "max",     "std",          "stdev",   "stddev",      "std_dev",          "variance",
    "p50",     "p90",          "p95",     "p99",         "warmup",           "warmup_time",
    "compile", "compile_time", "timeout", "compilation", "compilation_time", "overhead"};

template <class List>
bool is_one_of(std::string_view word, const List& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

struct Refused {
  std::string why;
};

// JSON as it should be: no duplicate keys, no NaN, bounded size and depth. Python's reader lets all of them
// pass.
Result<Json> parse_strict(std::string_view text) {
  if (text.size() > kMaxReportBytes) {
    return fail(ErrorCode::invalid_input,
                fmt::format("it has {} bytes, more than {}", text.size(), kMaxReportBytes));
  }
  std::vector<std::set<std::string>> open_objects;
  const Json::parser_callback_t guard = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMaxReportDepth)
      throw Refused{fmt::format("it is nested deeper than {} levels", kMaxReportDepth)};
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key && !open_objects.back().insert(value.get<std::string>()).second) {
      throw Refused{fmt::format("the key '{}' appears twice in one mapping", value.get<std::string>())};
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), guard);
  } catch (const Refused& refused) {
    return fail(ErrorCode::invalid_input, to_printable_utf8(refused.why));
  } catch (const Json::exception& error) {
    return fail(ErrorCode::invalid_input,
                fmt::format("it is not valid JSON: {}", to_printable_utf8(error.what())));
  }
}

// JSON's numbers have no types: 128, 128.0 and 1.28e2 are one shape. What a signed 64-bit integer cannot hold
// is a double.
Json with_plain_numbers(const Json& value) {
  if (value.is_array() || value.is_object()) {
    Json copy = value;
    for (Json& item : copy) item = with_plain_numbers(item);
    return copy;
  }
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::abs(number) <= kExactIntegers && number == std::floor(number))
      return static_cast<std::int64_t>(number);
  }
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return value.get<double>();
  return value;
}

// Escapes what YAML readers refuse, fold or cannot join again: everything outside ASCII up to U+FFFF.
std::string ascii_where_possible(const std::string& utf8) {
  std::string text;
  for (std::size_t i = 0; i < utf8.size();) {
    const auto byte = [&](std::size_t k) {
      return static_cast<unsigned>(static_cast<unsigned char>(utf8[i + k]));
    };
    if (byte(0) < 0x7F) {
      text += utf8[i++];
    } else if (byte(0) == 0x7F) {
      text += "\\u007f";
      i += 1;
    } else if (byte(0) < 0xE0) {
      text += fmt::format("\\u{:04x}", (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F));
      i += 2;
    } else if (byte(0) < 0xF0) {
      text += fmt::format("\\u{:04x}", (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F));
      i += 3;
    } else {
      text += utf8.substr(i, 4);
      i += 4;
    }
  }
  return text;
}

std::string canonical(const Json& value) { return ascii_where_possible(with_plain_numbers(value).dump()); }

// The value if the key is there and not null: null is how a report says "not measured".
const Json* find(const Json& object, std::string_view key) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

// As Python's truth: an empty list, text or mapping counts as not reported.
const Json* find_filled(const Json& object, std::string_view key) {
  const Json* value = find(object, key);
  if (value == nullptr) return nullptr;
  const bool empty = value->is_string() ? value->get_ref<const std::string&>().empty() : value->empty();
  return empty ? nullptr : value;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : canonical(value);
}

void set_time(TimedCase& timed, const Json& value, const TimeUnit& unit, std::string_view key) {
  if (value.is_number()) {
    arena::set_time(timed, value.get<double>(), unit, key);
  } else {
    timed.problem = fmt::format("{} is not a number", key);
  }
}

// A unit that the report states beside its times. Only keys that name no unit themselves may be read by it.
struct StatedUnit {
  const TimeUnit* unit = &kMilliseconds;
  bool stated = false;
  std::string problem;
};
StatedUnit stated_unit(const Json& object) {
  for (const char* key : {"time_unit", "unit"}) {
    const Json* value = find(object, key);
    if (value == nullptr || !value->is_string()) continue;
    const std::string name = value->get<std::string>();
    for (const TimeUnit& unit : kUnits) {
      if (name == unit.name) return {&unit, true, {}};
    }
    return {&kMilliseconds, true,
            fmt::format("{} '{}' is not known: ms, us, ns or s is expected", key, name)};
  }
  return {};
}

bool read_unitless(const Json& object, std::string_view key, TimedCase& timed) {
  const Json* value = find(object, key);
  if (value == nullptr) return false;
  const StatedUnit unit = stated_unit(object);
  set_time(timed, *value, *unit.unit, key);
  if (!unit.problem.empty()) timed.problem = unit.problem;
  return true;
}

bool read_with_unit(const Json& object, std::string_view stem, TimedCase& timed) {
  for (const TimeUnit& unit : kUnits) {
    const std::string key = fmt::format("{}_{}", stem, unit.name);
    const Json* value = find(object, key);
    if (value == nullptr) continue;
    set_time(timed, *value, unit, key);
    const StatedUnit stated = stated_unit(object);
    if (stated.stated && stated.unit->name != unit.name) {
      timed.problem = fmt::format("{} contradicts the unit that the report states beside it", key);
    }
    return true;
  }
  return false;
}

std::string first_host_time(const Json& object) {
  for (const char* key : kHostTimes) {
    if (find(object, key) != nullptr) return key;
  }
  return {};
}

// Fills time_ms or problem; false if the object has no key that could be a device time.
bool read_time(const Json& object, const TimingOptions& options, TimedCase& timed) {
  if (options.torch2hip) {
    if (read_unitless(object, options.side == TimedSide::baseline ? "ori_time" : "opt_time", timed))
      return true;
  }
  for (const char* stem : kDeviceTimes) {
    if (read_with_unit(object, stem, timed)) return true;
  }
  if (read_unitless(object, "execution_time", timed) || read_with_unit(object, "time", timed) ||
      read_unitless(object, "time", timed)) {
    return true;
  }
  if (!first_host_time(object).empty()) return false;
  if (const Json* timing = find(object, "timing_ms"); timing != nullptr && timing->is_object()) {
    for (const char* key : {"mean", "median", "min"}) {
      if (const Json* value = find(*timing, key)) {
        set_time(timed, *value, kMilliseconds, fmt::format("timing_ms.{}", key));
        return true;
      }
    }
  }
  if (const Json* rate = find(object, "bytes_per_second_gs")) {
    timed.inverse_rate = true;
    set_time(timed, *rate, kMilliseconds, "bytes_per_second_gs");
    if (timed.is_valid()) arena::set_time(timed, 1 / timed.time_ms, kMilliseconds, "1 / bytes_per_second_gs");
    return true;
  }
  return false;
}

void read_description(const Json& object, std::size_t index, TimedCase& timed) {
  const Json* id = find_filled(object, "test_case_id");
  timed.synthetic_id = id == nullptr;
  timed.id = id == nullptr ? fmt::format("test_case_{}", index) : text_of(*id);
  const Json* shape = find_filled(object, "shape");
  if (shape == nullptr) shape = find_filled(object, "shapes");
  if (shape != nullptr) timed.shape = canonical(*shape);
  if (const Json* params = find_filled(object, "params")) timed.params = canonical(*params);
  if (const Json* dtype = find_filled(object, "dtype")) timed.dtype = text_of(*dtype);
  if (const Json* method = find_filled(object, "benchmark_method")) timed.benchmark_method = text_of(*method);
  if (const Json* reason = find_filled(object, "benchmark_fallback_reason")) {
    timed.benchmark_fallback_reason = text_of(*reason);
  }
  const Json* consistent = find(object, "benchmark_method_consistent");
  timed.method_disputed = consistent != nullptr && *consistent == false;
}

// A report that is one mapping without a known time: every other key that ends in _ms is a case named by it.
// Means, medians and the like of one kernel are one case, and spreads, warm-up or compile times are none.
std::vector<TimedCase> read_named_times(const Json& object) {
  std::vector<std::string> names;
  std::vector<std::string> statistics;
  for (const auto& [key, value] : object.items()) {  // sorted
    if (key.size() <= 3 || key.substr(key.size() - 3) != "_ms" || value.is_null() ||
        is_one_of(key, kHostTimes))
      continue;
    if (key == "timing_ms" && !value.is_number()) continue;
    const std::string name = key.substr(0, key.size() - 3);
    if (is_one_of(name, kCentralStatistics)) {
      statistics.push_back(name);
    } else if (!is_one_of(name, kNoKernelTimes)) {
      names.push_back(name);
    }
  }
  if (names.empty() && !statistics.empty()) {
    for (const char* name : kCentralStatistics) {
      if (is_one_of(std::string_view(name), statistics)) {
        names.emplace_back(name);
        break;
      }
    }
  }
  std::vector<TimedCase> cases;
  for (std::size_t i = 0; i < names.size(); ++i) {
    TimedCase timed;
    read_description(object, i, timed);
    timed.synthetic_id = false;
    timed.id = names.size() == 1 ? names[i] : fmt::format("{}_{}", names[i], i);
    set_time(timed, object[names[i] + "_ms"], kMilliseconds, names[i] + "_ms");
    cases.push_back(std::move(timed));
  }
  return cases;
}

}  // namespace

Result<std::string> canonical_json(std::string_view text) {
  ARENA_ASSIGN(const Json value, parse_strict(text));
  return canonical(value);
}

Result<std::vector<TimedCase>> parse_report_json(std::string_view text, const TimingOptions& options) {
  ARENA_ASSIGN(const Json report, parse_strict(text));
  const Json* list = report.is_array() ? &report : nullptr;
  if (report.is_object()) list = find(report, "test_cases");
  if (!report.is_object() && !report.is_array()) {
    return fail(ErrorCode::invalid_input, "it is neither a mapping nor a list");
  }
  if (list != nullptr && !list->is_array()) return fail(ErrorCode::invalid_input, "test_cases is not a list");
  const Json items = list != nullptr ? *list : Json::array({report});
  if (items.size() > kMaxReportCases) {
    return fail(ErrorCode::invalid_input,
                fmt::format("it has {} cases, more than {}", items.size(), kMaxReportCases));
  }
  std::vector<TimedCase> cases;
  bool any_time = false;
  std::string host_time;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_object())
      return fail(ErrorCode::invalid_input, fmt::format("case {} is not a mapping", i));
    TimedCase timed;
    read_description(items[i], i, timed);
    if (read_time(items[i], options, timed)) {
      any_time = true;
    } else {
      const std::string host = first_host_time(items[i]);
      timed.problem =
          host.empty() ? "no time is reported" : fmt::format("only a host time ({}) is reported", host);
      if (host_time.empty()) host_time = host;
    }
    cases.push_back(std::move(timed));
  }
  if (any_time) return cases;
  if (list == nullptr) {
    cases = read_named_times(report);
    if (!cases.empty()) return cases;
  }
  if (host_time.empty()) return std::vector<TimedCase>{};
  return fail(ErrorCode::unsupported, fmt::format("it has only host times ({}), no device time", host_time));
}

}  // namespace arena
