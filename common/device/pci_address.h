#pragma once
// Where a card sits on the bus: what identifies it, whatever a vendor's tool numbers it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

namespace arena {

struct PciAddress {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0;
  std::uint8_t device = 0;
  std::uint8_t function = 0;
  bool operator==(const PciAddress&) const = default;
  bool operator<(const PciAddress& other) const {
    return std::tie(domain, bus, device, function) <
           std::tie(other.domain, other.bus, other.device, other.function);
  }
};

// "0000:c1:00.0", lower case.
std::string to_string(const PciAddress& address);

// With or without domain (0 then), of four or more digits (NVML writes eight), upper or lower case.
std::optional<PciAddress> parse_pci_address(std::string_view text);

}  // namespace arena
