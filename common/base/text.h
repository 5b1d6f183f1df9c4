#pragma once
// Small text helpers that the standard library, fmt and Boost do not have in one call.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace arena {

std::string_view trim(std::string_view text);  // ASCII blanks at both ends
std::string to_lower(std::string_view text);   // ASCII only
bool equals_ignoring_case(std::string_view a, std::string_view b);
bool contains(std::string_view text, std::string_view part);

// Pieces between any of `separators`, empty ones dropped.
std::vector<std::string> split(std::string_view text, std::string_view separators);

// The whole text as a number, or nothing: no sign tricks, no trailing characters, no locale, no octal.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_double(std::string_view text);  // finite or not; "nan" and "inf" are accepted

// The candidate nearest to `word` by edit distance if it is plausibly a misspelling, for "did you mean"
// messages.
std::optional<std::string> nearest_word(std::string_view word, const std::vector<std::string>& candidates);

// Length in bytes (1 to 4) of the valid UTF-8 sequence at the start of `bytes`; 0 if there is none or it is
// cut.
std::size_t utf8_sequence_length(std::string_view bytes);

// Valid UTF-8 with every invalid byte replaced by U+FFFD; NUL and control characters other than \n and \t
// likewise.
std::string to_printable_utf8(std::string_view bytes);

// "850 ms", "12.3 s", "4 min 05 s", "2 h 03 min".
std::string format_duration(std::chrono::milliseconds duration);

}  // namespace arena
