#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"
#include "device/probe/see.h"
#include "device/probe/vendor_library.h"

namespace arena {

namespace {

// Only calls that are the same in ROCm 5, 6 and 7: no hipDeviceProp_t, no attribute numbers.
using Code = int;
constexpr Code kSuccess = 0;
constexpr Code kNoDevice = 100;
constexpr Code kNotSupported = 801;
using Number = Code(int*);
using ErrorText = const char*(Code);
using PciBusId = Code(char*, int size, int device);
using DeviceName = Code(char*, int size, int device);
using DeviceUuid = Code(char (*)[16], int device);
using DeviceMemory = Code(std::size_t*, int device);

std::string explain(const VendorLibrary& library, Code status) {
  auto* const error_text = library.find<ErrorText>("hipGetErrorString");
  return fmt::format("{} (hipError {})", error_text != nullptr ? error_text(status) : "unknown error",
                     status);
}

std::string version_of(const VendorLibrary& library, const char* function) {
  int version = 0;
  return call_if_there(library.find<Number>(function), kNotSupported, &version) == kSuccess
             ? std::to_string(version)
             : "";
}

std::optional<SeenDevice> read_device(const VendorLibrary& library, int device) {
  SeenDevice seen;
  std::array<char, 64> address{};
  if (call_if_there(library.find<PciBusId>("hipDeviceGetPCIBusId"), kNotSupported, address.data(), 63,
                    device) != kSuccess)
    return std::nullopt;
  const auto parsed = parse_pci_address(address.data());
  if (!parsed) return std::nullopt;
  seen.pci_address = *parsed;
  std::array<char, 256> name{};
  if (call_if_there(library.find<DeviceName>("hipDeviceGetName"), kNotSupported, name.data(), 255, device) ==
      kSuccess)
    seen.name = trim(name.data());
  char uuid[16] = {};
  if (call_if_there(library.find<DeviceUuid>("hipDeviceGetUuid"), kNotSupported, &uuid, device) == kSuccess &&
      std::all_of(std::begin(uuid), std::end(uuid), [](unsigned char c) { return std::isxdigit(c) != 0; })) {
    seen.unique_id = to_lower({uuid, sizeof uuid});  // AMD's 16 bytes are the digits themselves
  }
  std::size_t bytes = 0;
  if (call_if_there(library.find<DeviceMemory>("hipDeviceTotalMem"), kNotSupported, &bytes, device) ==
      kSuccess)
    seen.memory_bytes = bytes;
  return seen;
}

}  // namespace

RuntimeView see_hip() {
  RuntimeView view;
  view.kind = RuntimeKind::hip;
  const auto library =
      VendorLibrary::open({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}, rocm_directories());
  if (!library) {
    view.state = library.error().code == ErrorCode::not_found ? SourceState::no_library : SourceState::failed;
    view.message = library.error().message;
    return view;
  }
  view.library = library->name();
  int count = 0;
  const Code status = call_if_there(library->find<Number>("hipGetDeviceCount"), kNotSupported, &count);
  view.runtime_version = version_of(*library, "hipRuntimeGetVersion");
  view.driver_version = version_of(*library, "hipDriverGetVersion");
  if (status == kNoDevice || (status == kSuccess && count == 0)) {
    view.state = SourceState::no_device;
    return view;
  }
  if (status != kSuccess) {
    view.message = fmt::format("hipGetDeviceCount failed: {}", explain(*library, status));
    return view;
  }
  for (int device = 0; device < count; ++device) {
    auto seen = read_device(*library, device);
    if (!seen) {
      view.message = fmt::format("HIP does not tell the PCI address of its device {}", device);
      return view;
    }
    view.devices.push_back(std::move(*seen));
  }
  view.state = SourceState::ok;
  return view;
}

}  // namespace arena
