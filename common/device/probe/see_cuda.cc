#include <array>

#include <fmt/format.h>

#include "device/probe/see.h"
#include "device/probe/vendor_library.h"

namespace arena {

namespace {

using Code = int;
constexpr Code kSuccess = 0;
constexpr Code kNoDevice = 100;
constexpr Code kNotSupported = 801;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;
using Init = Code(unsigned flags);
using Number = Code(int*);
using GetDevice = Code(int* device, int ordinal);
using DeviceText = Code(char*, int size, int device);  // name, PCI bus id
using DeviceUuid = Code(unsigned char (*)[16], int device);
using DeviceMemory = Code(std::size_t*, int device);
using Attribute = Code(int*, int attribute, int device);
using ErrorText = Code(Code, const char**);

std::string explain(const VendorLibrary& library, Code status) {
  const char* text = nullptr;
  call_if_there(library.find<ErrorText>("cuGetErrorString"), kNotSupported, status, &text);
  return fmt::format("{} (CUDA status {})", text != nullptr ? text : "unknown error", status);
}

// "GPU-5c1f…" as NVML and CUDA_VISIBLE_DEVICES write it.
std::string format_uuid(const unsigned char (&bytes)[16]) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

std::optional<SeenDevice> read_device(const VendorLibrary& library, int ordinal) {
  int device = 0;
  std::array<char, 64> address{};
  if (call_if_there(library.find<GetDevice>("cuDeviceGet"), kNotSupported, &device, ordinal) != kSuccess ||
      call_if_there(library.find<DeviceText>("cuDeviceGetPCIBusId"), kNotSupported, address.data(), 63,
                    device) != kSuccess) {
    return std::nullopt;
  }
  const auto parsed = parse_pci_address(address.data());
  if (!parsed) return std::nullopt;
  SeenDevice seen;
  seen.pci_address = *parsed;
  std::array<char, 256> name{};
  if (call_if_there(library.find<DeviceText>("cuDeviceGetName"), kNotSupported, name.data(), 255, device) ==
      kSuccess)
    seen.name = name.data();
  unsigned char uuid[16] = {};
  if (call_if_there(library.find<DeviceUuid>("cuDeviceGetUuid"), kNotSupported, &uuid, device) == kSuccess)
    seen.unique_id = format_uuid(uuid);
  int major = 0;
  int minor = 0;
  auto* const attribute = library.find<Attribute>("cuDeviceGetAttribute");
  if (call_if_there(attribute, kNotSupported, &major, kCapabilityMajor, device) == kSuccess &&
      call_if_there(attribute, kNotSupported, &minor, kCapabilityMinor, device) == kSuccess) {
    seen.arch = fmt::format("sm_{}{}", major, minor);
  }
  std::size_t bytes = 0;
  if (call_if_there(library.find<DeviceMemory>("cuDeviceTotalMem_v2"), kNotSupported, &bytes, device) ==
      kSuccess)
    seen.memory_bytes = bytes;
  return seen;
}

}  // namespace

RuntimeView see_cuda() {
  RuntimeView view;
  view.kind = RuntimeKind::cuda;
  const auto library = VendorLibrary::open({"libcuda.so.1"}, nvidia_directories());
  if (!library) {
    view.state = library.error().code == ErrorCode::not_found ? SourceState::no_library : SourceState::failed;
    view.message = library.error().message;
    return view;
  }
  view.library = library->name();
  Code status = call_if_there(library->find<Init>("cuInit"), kNotSupported, 0U);
  int count = 0;
  if (status == kSuccess)
    status = call_if_there(library->find<Number>("cuDeviceGetCount"), kNotSupported, &count);
  int version = 0;
  if (call_if_there(library->find<Number>("cuDriverGetVersion"), kNotSupported, &version) == kSuccess)
    view.runtime_version = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  if (status == kNoDevice || (status == kSuccess && count == 0)) {
    view.state = SourceState::no_device;
    return view;
  }
  if (status != kSuccess) {
    view.message = fmt::format("CUDA could not start: {}", explain(*library, status));
    return view;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    auto seen = read_device(*library, ordinal);
    if (!seen) {
      view.message = fmt::format("CUDA does not tell the PCI address of its device {}", ordinal);
      return view;
    }
    view.devices.push_back(std::move(*seen));
  }
  view.state = SourceState::ok;
  return view;
}

}  // namespace arena
