#pragma once
// The functions of libnvidia-ml.so.1 that are used, declared here because distributions have no header of it.
// NVIDIA never changes a function: a changed one gets a new suffix (_v2, _v3). Where a driver lacks one, its
// value is absent.
#include <cstdint>

namespace arena::nvml {

using Status = int;
inline constexpr Status kSuccess = 0;
inline constexpr Status kNotSupported = 3;
inline constexpr Status kNoPermission = 4;
inline constexpr Status kInsufficientSize = 7;
inline constexpr Status kDriverNotLoaded = 9;
inline constexpr Status kFunctionNotFound = 13;

using Handle = void*;

struct PciInfo {  // nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3
  char legacy_bus_id[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char bus_id[32];
};
struct Memory {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct Process {  // nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v3
  unsigned pid;
  unsigned long long memory;  // all bits set: not known
  unsigned gpu_instance, compute_instance;
};

inline constexpr int kGpuTemperature = 0;
inline constexpr int kSmClock = 1;
inline constexpr int kCorrected = 0;
inline constexpr int kUncorrected = 1;
inline constexpr int kSinceDriverLoad = 0;  // "volatile" counters

using Plain = Status();
using Number = Status(unsigned*);
using SignedNumber = Status(int*);
using Text = Status(char*, unsigned);
using ErrorText = const char*(Status);
using GetHandle = Status(unsigned index, Handle*);
using GetPciInfo = Status(Handle, PciInfo*);
using GetText = Status(Handle, char*, unsigned);
using GetNumber = Status(Handle, unsigned*);
using GetTwoNumbers = Status(Handle, unsigned*, unsigned*);
using GetCapability = Status(Handle, int*, int*);
using GetMemory = Status(Handle, Memory*);
using GetUtilization = Status(Handle, Utilization*);
using GetByKind = Status(Handle, int kind, unsigned*);
using GetEcc = Status(Handle, int kind, int counter, unsigned long long*);
using GetMask = Status(Handle, unsigned long long*);
using GetProcesses = Status(Handle, unsigned* count, Process*);

}  // namespace arena::nvml
