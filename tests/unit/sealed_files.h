#pragma once
// What every sealed file must withstand: cut at each byte, or one byte changed, it must be refused as
// corrupt, never misread.
#include <doctest/doctest.h>

#include <string>

#include "base/result.h"

namespace arena {

template <class Read>
void check_every_damage(const std::string& text, Read read) {
  REQUIRE(read(text));
  const auto refuse = [&](const std::string& damaged) {
    const auto result = read(damaged);
    REQUIRE_FALSE(result);
    REQUIRE(result.error().code == ErrorCode::corrupt);
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    refuse(text.substr(0, i));
    for (const int bit : {0, 3, 5}) {
      std::string flipped = text;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      refuse(flipped);
    }
  }
  refuse(text + text);
  refuse(text + "\n");
}

}  // namespace arena
