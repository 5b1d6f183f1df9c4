#pragma once
// Keeps secrets out of what is stored: an agent may print its environment or a login file.
#include <string>
#include <string_view>
#include <vector>

#include "os/process.h"

namespace arena {

// Values of variables whose names speak of keys, tokens, passwords, and addresses with a password in them.
std::vector<std::string> secrets_of(const EnvironmentMap& environment);

// Replaces secrets in a stream that comes in pieces. Holds back only what may be the beginning of one.
class Redactor {
 public:
  Redactor() = default;
  explicit Redactor(const std::vector<std::string>& secrets);
  std::string take(std::string_view bytes);
  std::string finish();  // what was held back
  std::string redact(std::string_view text) const;

 private:
  std::string replace(std::string text) const;
  std::size_t possible_beginning(std::string_view text) const;
  std::vector<std::string> secrets_;  // longest first
  std::string held_;
};

}  // namespace arena
