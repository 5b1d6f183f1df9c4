#include "base/digest.h"

#include <array>
#include <cstdint>

namespace arena {

Digest::Digest() : state_() { crypto_hash_sha256_init(&state_); }

void Digest::update(std::string_view bytes) {
  crypto_hash_sha256_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

void Digest::update_field(std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  std::array<unsigned char, 8> prefix{};
  for (int i = 0; i < 8; ++i)
    prefix[static_cast<std::size_t>(i)] = static_cast<unsigned char>(size >> (8 * i));
  crypto_hash_sha256_update(&state_, prefix.data(), prefix.size());
  update(bytes);
}

std::string Digest::hex() {
  std::array<unsigned char, crypto_hash_sha256_BYTES> raw{};
  crypto_hash_sha256_final(&state_, raw.data());
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * raw.size());
  for (const unsigned char byte : raw) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Digest digest;
  digest.update(bytes);
  return digest.hex();
}

}  // namespace arena
