#include "base/sealed_text.h"

#include <fmt/format.h>

#include "base/digest.h"

namespace arena {

namespace {
constexpr std::size_t kHexLength = 64;
constexpr std::size_t kSealLength = kSealPrefix.size() + kHexLength + 1;  // with the newline
}  // namespace

std::string seal(std::string body) {
  if (body.empty() || body.back() != '\n') body += '\n';
  const std::string digest = sha256_hex(body);
  body.reserve(body.size() + kSealLength);
  body += kSealPrefix;
  body += digest;
  body += '\n';
  return body;
}

std::string_view stated_seal(std::string_view text) {
  if (text.size() < kSealLength || text.back() != '\n') return {};
  const std::string_view line = text.substr(text.size() - kSealLength);
  if (line.substr(0, kSealPrefix.size()) != kSealPrefix) return {};
  return line.substr(kSealPrefix.size(), kHexLength);
}

Result<std::string_view> unseal(std::string_view text, std::string_view name) {
  const std::string_view stated = stated_seal(text);
  if (stated.empty())
    return fail(ErrorCode::corrupt, fmt::format("'{}' is incomplete: it does not end with its seal", name));
  const std::string_view body = text.substr(0, text.size() - kSealLength);
  if (sha256_hex(body) != stated) {
    return fail(ErrorCode::corrupt,
                fmt::format("'{}' was damaged or edited: its contents do not fit its seal", name));
  }
  return body;
}

}  // namespace arena
