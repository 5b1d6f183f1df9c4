#pragma once
// SHA-256 (libsodium), as lower-case hexadecimal text of 64 characters.
#include <string>
#include <string_view>

#include <sodium/crypto_hash_sha256.h>

namespace arena {

class Digest {
 public:
  Digest();
  void update(std::string_view bytes);
  // Adds `bytes` preceded by its length, so that ("ab","c") and ("a","bc") differ.
  void update_field(std::string_view bytes);
  std::string hex();  // ends the computation

 private:
  crypto_hash_sha256_state state_;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace arena
