#include "device/probe/gpu_metrics.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

namespace arena {

namespace {

// Where the table of format 1.CONTENT keeps its 32 throttle bits. Contents 6 and up have counters instead.
std::optional<std::size_t> throttle_offset(unsigned content) {
  switch (content) {
    case 1:
    case 2:
    case 3:
      return 68;
    case 4:
      return 40;
    case 5:
      return 104;
    default:
      return std::nullopt;
  }
}

// Content 3 repeats them in 64 bits whose meaning is the same on every chip: the first 16 are about power and
// so on.
constexpr std::size_t kCommonBits = 112;
constexpr std::array<std::pair<std::uint64_t, std::string_view>, 4> kMeanings = {
    {{0x0000'0000'0000'ffff, "power cap"},
     {0x0000'0000'ffff'0000, "current"},
     {0x00ff'ffff'0000'0000, "thermal"},
     {0xff00'0000'0000'0000, "other"}}};

template <class Number>
std::optional<Number> number_at(std::string_view bytes, std::size_t offset) {
  Number number = 0;
  if (bytes.size() < offset + sizeof number) return std::nullopt;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

}  // namespace

std::optional<std::vector<std::string>> parse_throttle_reasons(std::string_view table) {
  const auto size = number_at<std::uint16_t>(table, 0);
  const auto format = number_at<std::uint8_t>(table, 2);
  const auto content = number_at<std::uint8_t>(table, 3);
  if (!size || format != 1 || !content || table.size() < *size) return std::nullopt;
  const auto offset = throttle_offset(*content);
  const auto bits = offset ? number_at<std::uint32_t>(table, *offset) : std::nullopt;
  if (!bits || *bits == UINT32_MAX) return std::nullopt;  // the driver fills what it does not know with ones
  if (*bits == 0) return std::vector<std::string>{};
  std::vector<std::string> reasons;
  const auto common = *content == 3 ? number_at<std::uint64_t>(table, kCommonBits) : std::nullopt;
  if (common && *common != UINT64_MAX) {
    for (const auto& [mask, meaning] : kMeanings) {
      if ((*common & mask) != 0) reasons.emplace_back(meaning);
    }
  }
  if (reasons.empty()) reasons.emplace_back("throttled");
  return reasons;
}

}  // namespace arena
