#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "model/timing_report.h"

namespace arena {

namespace {

// Times are printed in many spellings; longest first where one begins another.
struct UnitWord {
  std::string_view word;
  const TimeUnit* unit;
};
constexpr std::array kUnitWords = {UnitWord{"milliseconds", &kMilliseconds},
                                   UnitWord{"millisecond", &kMilliseconds},
                                   UnitWord{"msecs", &kMilliseconds},
                                   UnitWord{"msec", &kMilliseconds},
                                   UnitWord{"ms", &kMilliseconds},
                                   UnitWord{"microseconds", &kMicroseconds},
                                   UnitWord{"microsecond", &kMicroseconds},
                                   UnitWord{"usecs", &kMicroseconds},
                                   UnitWord{"usec", &kMicroseconds},
                                   UnitWord{"us", &kMicroseconds},
                                   UnitWord{"\xC2\xB5s", &kMicroseconds},
                                   UnitWord{"\xCE\xBCs", &kMicroseconds},
                                   UnitWord{"nanoseconds", &kNanoseconds},
                                   UnitWord{"nanosecond", &kNanoseconds},
                                   UnitWord{"nsec", &kNanoseconds},
                                   UnitWord{"ns", &kNanoseconds},
                                   UnitWord{"seconds", &kSeconds},
                                   UnitWord{"second", &kSeconds},
                                   UnitWord{"secs", &kSeconds},
                                   UnitWord{"sec", &kSeconds},
                                   UnitWord{"s", &kSeconds}};

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// A place in the lower-cased output. Each step either succeeds and moves on, or says false; the place is then
// of no use.
class Cursor {
 public:
  Cursor(std::string_view text, std::size_t at) : text_(text), at_(at) {}
  std::size_t at() const { return at_; }

  bool blanks() {
    return skip([](char c) { return is_blank(c); });
  }  // false if there was none
  bool separators() {
    return skip([](char c) { return is_blank(c) || c == ':'; });
  }
  bool assignment() {
    return skip([](char c) { return is_blank(c) || c == ':' || c == '='; });
  }
  bool digits() { return skip(is_digit); }
  bool literal(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  // The whole number with sign and exponent, nan and inf included: half a number would be another one.
  std::optional<double> number() {
    const std::size_t begin = at_;
    if (peek() == '-' || peek() == '+') ++at_;
    if (!literal("nan") && !literal("infinity") && !literal("inf")) {
      const bool whole = digits();
      const bool fraction = peek() == '.' && is_digit(peek(1));
      if (!whole && !fraction) return std::nullopt;
      if (fraction) {
        ++at_;
        digits();
      }
      const std::size_t mantissa_end = at_;
      if (literal("e")) {
        if (peek() == '-' || peek() == '+') ++at_;
        if (!digits()) at_ = mantissa_end;
      }
    }
    // Out of a double's range is as little a time as nan is.
    return parse_double(text_.substr(begin, at_ - begin)).value_or(std::nan(""));
  }

  const TimeUnit* unit() {
    for (const UnitWord& known : kUnitWords) {
      if (!literal(known.word)) continue;
      if (!is_word(peek())) return known.unit;
      at_ -= known.word.size();
    }
    return nullptr;
  }

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

 private:
  template <class Is>
  bool skip(Is is) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is(text_[at_])) ++at_;
    return at_ > begin;
  }
  std::string_view text_;
  std::size_t at_;
};

struct Timing {
  double value = 0;
  const TimeUnit* unit = nullptr;
};

std::optional<Timing> read_timing(Cursor& cursor) {
  const auto value = cursor.number();
  if (!value) return std::nullopt;
  cursor.blanks();
  const TimeUnit* unit = cursor.unit();
  if (unit == nullptr) return std::nullopt;
  return Timing{*value, unit};
}

// Calls `visit` with the place behind every occurrence of `word` that is no word's tail ("latest");
// kernel_avg is fine.
template <class Visit>
void for_each_word(std::string_view text, std::string_view word, Visit visit) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size())) {
    if (at == 0 || !is_word(text[at - 1]) || text[at - 1] == '_') visit(Cursor(text, at + word.size()));
  }
}

TimedCase make_case(std::string id, const Timing& timing) {
  TimedCase timed;
  timed.id = std::move(id);
  set_time(timed, timing.value, *timing.unit, "the printed time");
  return timed;
}

// "Test case 3: 1.5 ms"
std::vector<TimedCase> read_test_cases(std::string_view text) {
  std::vector<TimedCase> cases;
  for_each_word(text, "test", [&](Cursor cursor) {
    cursor.blanks();
    if (!cursor.literal("case") || !cursor.blanks()) return;
    const std::size_t begin = cursor.at();
    if (!cursor.digits()) return;
    const std::string_view number = text.substr(begin, cursor.at() - begin);
    if (!cursor.separators()) return;
    if (const auto timing = read_timing(cursor))
      cases.push_back(make_case(fmt::format("test_case_{}", number), *timing));
  });
  return cases;
}

// "Shape: [128, 64] 1.5 ms". Paired by the shape, since its place in the output says nothing.
std::vector<TimedCase> read_shapes(std::string_view text) {
  std::vector<TimedCase> cases;
  for_each_word(text, "shape", [&](Cursor cursor) {
    if (!cursor.separators() || !cursor.literal("[")) return;
    std::string shape;
    do {
      cursor.blanks();
      const std::size_t begin = cursor.at();
      if (!cursor.digits()) break;  // v0.2 accepts a trailing comma
      const auto extent = parse_integer(text.substr(begin, cursor.at() - begin));
      if (!extent) return;
      shape += fmt::format("{}{}", shape.empty() ? "[" : ",", *extent);
      cursor.blanks();
    } while (cursor.literal(","));
    if (shape.empty() || !cursor.literal("]") || !cursor.separators()) return;
    const auto timing = read_timing(cursor);
    if (!timing) return;
    TimedCase timed = make_case(fmt::format("shape_{}", cases.size()), *timing);
    timed.synthetic_id = true;
    timed.shape = shape + "]";
    cases.push_back(std::move(timed));
  });
  return cases;
}

// "Performance: 1.5 ms", as often as it is printed.
std::vector<TimedCase> read_performance_lines(std::string_view text) {
  std::vector<TimedCase> cases;
  for_each_word(text, "performance:", [&](Cursor cursor) {
    cursor.blanks();
    if (const auto timing = read_timing(cursor))
      cases.push_back(make_case(fmt::format("perf_{}", cases.size()), *timing));
  });
  return cases;
}

using UnitFilter = bool (*)(const TimeUnit&);
bool is_seconds(const TimeUnit& unit) { return unit.name == kSeconds.name; }
bool is_below_seconds(const TimeUnit& unit) { return !is_seconds(unit); }

std::optional<Timing> first_named_time(std::string_view text, std::string_view word, UnitFilter accepts) {
  std::optional<Timing> found;
  for_each_word(text, word, [&](Cursor cursor) {
    if (found) return;
    Cursor behind_time = cursor;
    if ((behind_time.blanks() || behind_time.literal("_")) && behind_time.literal("time"))
      cursor = behind_time;
    if (!cursor.assignment()) return;
    const auto timing = read_timing(cursor);
    if (timing && accepts(*timing->unit)) found = timing;
  });
  return found;
}

// pytest's closing line, "3 passed in 12.31s": how long the test program ran, no kernel's time.
bool is_test_summary(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongestSummary = 300;
  const std::size_t begin = at - std::min(at, kLongestSummary);
  std::string_view line = text.substr(begin, at - begin);
  line = trim(line.substr(line.rfind('\n') + 1));  // npos + 1 is 0
  if (line.size() < 2 || line.substr(line.size() - 2) != "in") return false;
  for (const char* word : {" passed", " failed", " error", " skipped", " deselected", " warning"}) {
    if (contains(line, word)) return true;
  }
  return false;
}

// The first positive time that stands alone. A number that continues a word or another number is none.
std::optional<Timing> first_bare_time(std::string_view text, UnitFilter accepts) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit(text[at]) && text[at] != '.') {
      ++at;
      continue;
    }
    const char before = at > 0 ? text[at - 1] : ' ';
    const bool is_continued =
        is_word(before) || before == '.' || before == ',' || before == '-' || before == '+';
    Cursor cursor(text, at);
    const auto timing = read_timing(cursor);
    if (timing && !is_continued && timing->value > 0 && accepts(*timing->unit) && !is_test_summary(text, at))
      return timing;
    // Past the whole token, so that "1.5.3 ms" is not read as 3 ms.
    while (at < text.size() && (is_word(text[at]) || text[at] == '.' || text[at] == ',')) ++at;
  }
  return std::nullopt;
}

std::optional<Timing> single_time(std::string_view text) {
  std::optional<Timing> found;
  for_each_word(text, "geak_result_latency_ms=", [&](Cursor cursor) {
    cursor.blanks();
    if (found) return;
    const auto value = cursor.number();
    if (value && !is_word(cursor.peek())) found = Timing{*value, &kMilliseconds};
  });
  for (const char* word : {"execution time", "execution_time", "elapsed", "avg"}) {
    for (const UnitFilter accepts : {is_below_seconds, is_seconds}) {
      if (!found) found = first_named_time(text, word, accepts);
    }
  }
  for (const UnitFilter accepts : {is_below_seconds, is_seconds}) {
    if (!found) found = first_bare_time(text, accepts);
  }
  return found;
}

// What the benchmark kit of v0.3 prints about how it measured.
void add_printed_method(std::string_view original, std::string_view text, std::vector<TimedCase>& cases) {
  for_each_word(text, "geak_benchmark_method=", [&](Cursor cursor) {
    const std::size_t begin = cursor.at();
    const std::size_t end = std::min(original.find_first_of(" \t\r\n", begin), original.size());
    for (TimedCase& timed : cases)
      timed.benchmark_method = to_printable_utf8(original.substr(begin, end - begin));
  });
  for_each_word(text, "geak_benchmark_method_consistent=", [&](Cursor cursor) {
    const bool disputed = cursor.literal("0") || cursor.literal("false");
    for (TimedCase& timed : cases) timed.method_disputed = disputed;
  });
}

}  // namespace

void set_time(TimedCase& timed, double value, const TimeUnit& unit, std::string_view source) {
  const double time_ms = unit.to_ms(value);
  timed.time_ms = std::isfinite(time_ms) ? time_ms : 0;
  timed.problem.clear();
  if (!std::isfinite(time_ms)) {
    timed.problem = fmt::format("{} is not a finite number", source);
  } else if (time_ms < 0) {
    timed.problem = fmt::format("{} is negative, a task's marker for an error", source);
  } else if (time_ms == 0) {
    timed.problem = fmt::format("{} is 0", source);
  }
}

std::vector<TimedCase> parse_report_stdout(std::string_view text) {
  // The end is where results stand.
  if (text.size() > kMaxReportBytes) text.remove_prefix(text.size() - kMaxReportBytes);
  const std::string lowered = to_lower(text);
  std::vector<TimedCase> cases = read_test_cases(lowered);
  if (cases.empty()) cases = read_shapes(lowered);
  if (cases.empty()) cases = read_performance_lines(lowered);
  if (cases.empty()) {
    if (const auto timing = single_time(lowered)) cases.push_back(make_case("test_case_0", *timing));
  }
  add_printed_method(text, lowered, cases);
  return cases;
}

}  // namespace arena
