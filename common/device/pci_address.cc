#include "device/pci_address.h"

#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace arena {

namespace {

std::optional<std::uint32_t> parse_hex(std::string_view text, std::size_t least, std::size_t most,
                                       std::uint32_t limit) {
  std::uint32_t value = 0;
  if (text.size() < least || text.size() > most) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || value > limit) return std::nullopt;
  return value;
}

}  // namespace

std::string to_string(const PciAddress& address) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", address.domain, address.bus, address.device,
                     address.function);
}

std::optional<PciAddress> parse_pci_address(std::string_view text) {
  std::optional<std::uint32_t> domain = 0;
  if (const std::size_t last = text.rfind(':'), first = text.find(':'); first != last) {
    domain = parse_hex(text.substr(0, first), 4, 8, 0xffffffff);
    text.remove_prefix(first + 1);
  }
  if (text.size() != 7 || text[2] != ':' || text[5] != '.') return std::nullopt;
  const auto bus = parse_hex(text.substr(0, 2), 2, 2, 0xff);
  const auto device = parse_hex(text.substr(3, 2), 2, 2, 0x1f);
  const auto function = parse_hex(text.substr(6, 1), 1, 1, 7);
  if (!domain || !bus || !device || !function) return std::nullopt;
  return PciAddress{*domain, static_cast<std::uint8_t>(*bus), static_cast<std::uint8_t>(*device),
                    static_cast<std::uint8_t>(*function)};
}

}  // namespace arena
