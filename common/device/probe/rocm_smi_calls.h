#pragma once
// The few functions of librocm_smi64 that are the same from ROCm 5 to 7, declared here so that building needs
// none of AMD's packages. tests/unit/vendor_abi_test.cc compares them with AMD's own header where that is
// installed. Left out on purpose: clock frequencies, whose structure grew a field in ROCm 6; sysfs tells
// them.
#include <cstddef>
#include <cstdint>

namespace arena::rsmi {

using Status = std::uint32_t;
inline constexpr Status kSuccess = 0;
inline constexpr Status kNotSupported = 2;
inline constexpr Status kPermission = 4;
inline constexpr Status kInitError = 8;

inline constexpr std::uint32_t kVram = 0;
inline constexpr std::uint32_t kEdge = 0;
inline constexpr std::uint32_t kJunction = 1;
inline constexpr std::uint32_t kCurrent = 0;
inline constexpr std::uint32_t kDriver = 0;

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
  std::uint32_t patch;
  const char* build;
};

using Init = Status(std::uint64_t flags);
using ShutDown = Status();
using StatusString = Status(Status, const char** text);
using VersionGet = Status(Version*);
using VersionString = Status(std::uint32_t component, char* text, std::uint32_t size);
using Count = Status(std::uint32_t*);
using Number64 = Status(std::uint32_t device, std::uint64_t*);  // PCI id, unique id
using Number32 = Status(std::uint32_t device, std::uint32_t*);  // busy percent, NUMA node
using Name = Status(std::uint32_t device, char* text, std::size_t size);
using Temperature = Status(std::uint32_t device, std::uint32_t sensor, std::uint32_t metric,
                           std::int64_t* millidegrees);
using Power = Status(std::uint32_t device, std::uint32_t sensor, std::uint64_t* microwatts);
using Memory = Status(std::uint32_t device, std::uint32_t type, std::uint64_t* bytes);

}  // namespace arena::rsmi
