#pragma once
// `{name}` in argv words of agent definitions and settings. `{{` and `}}` are literal braces.
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace arena {

using PlaceholderValues = std::map<std::string, std::string, std::less<>>;

// An unknown name or an unbalanced brace is invalid_input and names the placeholder and the known ones.
Result<std::string> expand_placeholders(std::string_view text, const PlaceholderValues& values);

}  // namespace arena
