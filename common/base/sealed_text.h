#pragma once
// How every file of ours that is read back proves that it is whole: its last line is a comment with the
// digest of everything before it. A file cut at any byte, or edited by hand, no longer opens; a YAML reader
// of v0.2 sees a comment.
#include <string>
#include <string_view>

#include "base/result.h"

namespace arena {

inline constexpr std::string_view kSealPrefix = "# sha256: ";

// `body` must end with a newline (one is added if not).
std::string seal(std::string body);

// The body without its seal; ErrorCode::corrupt with `name` in the message when the seal is absent or does
// not fit.
Result<std::string_view> unseal(std::string_view text, std::string_view name);

// The digest the seal states, without checking it: enough to compare two files cheaply. Empty if there is
// none.
std::string_view stated_seal(std::string_view text);

}  // namespace arena
