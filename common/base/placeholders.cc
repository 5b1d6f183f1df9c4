#include "base/placeholders.h"

#include <fmt/format.h>

namespace arena {

namespace {

Error unknown_placeholder(std::string_view name, std::string_view text, const PlaceholderValues& values) {
  std::string known;
  for (const auto& [key, value] : values) known += fmt::format("{}{{{}}}", known.empty() ? "" : ", ", key);
  return {ErrorCode::invalid_input,
          fmt::format("unknown placeholder {{{}}} in '{}'; known are {}", name, text, known)};
}

}  // namespace

Result<std::string> expand_placeholders(std::string_view text, const PlaceholderValues& values) {
  std::string expanded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool doubled = i + 1 < text.size() && text[i + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      expanded += c;
      ++i;
    } else if (c == '{') {
      const std::size_t end = text.find('}', i);
      if (end == std::string_view::npos)
        return fail(ErrorCode::invalid_input, fmt::format("'{{' without '}}' in '{}'", text));
      const std::string_view name = text.substr(i + 1, end - i - 1);
      const auto found = values.find(name);
      if (found == values.end()) return fail(unknown_placeholder(name, text, values));
      expanded += found->second;
      i = end;
    } else if (c == '}') {
      return fail(ErrorCode::invalid_input,
                  fmt::format("'}}' without '{{' in '{}'; write '}}}}' for a brace", text));
    } else {
      expanded += c;
    }
  }
  return expanded;
}

}  // namespace arena
