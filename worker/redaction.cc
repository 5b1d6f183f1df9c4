#include "worker/redaction.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace arena {

namespace {

constexpr std::string_view kInstead = "[secret]";
constexpr std::size_t kShortest = 8;  // shorter values are found in every text

bool names_secret(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kWords = {"key",    "token",      "secret", "password",
                                                             "passwd", "credential", "auth",   "cookie"};
  const std::string lower = to_lower(name);
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return contains(lower, word); });
}

bool holds_password(std::string_view value) {
  const std::size_t scheme = value.find("://");
  return scheme != std::string_view::npos && value.find('@', scheme) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> secrets_of(const EnvironmentMap& environment) {
  std::vector<std::string> secrets;
  for (const auto& [name, value] : environment) {
    const bool is_path = value.starts_with('/');  // SSL keys and the like are named by their files
    if ((names_secret(name) && !is_path) || holds_password(value)) secrets.push_back(value);
  }
  return secrets;
}

Redactor::Redactor(const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets) {
    if (secret.size() < kShortest) continue;
    secrets_.push_back(secret);
    // As it stands inside a JSON text.
    const std::string dumped =
        nlohmann::json(secret).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (std::string escaped = dumped.substr(1, dumped.size() - 2); escaped != secret)
      secrets_.push_back(std::move(escaped));
  }
  std::sort(secrets_.begin(), secrets_.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
}

std::string Redactor::take(std::string_view bytes) {
  if (secrets_.empty()) return std::string(bytes);
  std::string text = replace(held_ + std::string(bytes));
  held_ = text.substr(text.size() - possible_beginning(text));
  text.resize(text.size() - held_.size());
  return text;
}

std::string Redactor::finish() { return std::exchange(held_, {}); }

std::string Redactor::redact(std::string_view text) const { return replace(std::string(text)); }

std::string Redactor::replace(std::string text) const {
  for (const std::string& secret : secrets_) {
    for (std::size_t at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + kInstead.size()))
      text.replace(at, secret.size(), kInstead);
  }
  return text;
}

// The length of the longest end of `text` that a secret begins with.
std::size_t Redactor::possible_beginning(std::string_view text) const {
  std::size_t longest = 0;
  for (const std::string& secret : secrets_) {
    for (std::size_t size = std::min(secret.size() - 1, text.size()); size > longest; --size) {
      if (text.ends_with(std::string_view(secret).substr(0, size))) {
        longest = size;
        break;
      }
    }
  }
  return longest;
}

}  // namespace arena
