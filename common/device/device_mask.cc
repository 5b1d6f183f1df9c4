#include "device/device_mask.h"

#include <algorithm>

namespace arena {

namespace {

constexpr const char* kRocr = "ROCR_VISIBLE_DEVICES";
constexpr const char* kHip = "HIP_VISIBLE_DEVICES";
constexpr const char* kCuda = "CUDA_VISIBLE_DEVICES";
constexpr const char* kOrdinal = "GPU_DEVICE_ORDINAL";
constexpr const char* kCudaOrder = "CUDA_DEVICE_ORDER";
constexpr const char* kNvidia = "NVIDIA_VISIBLE_DEVICES";

bool has_own_unique_id(const Device& device, const std::vector<Device>& devices) {
  if (device.unique_id.empty()) return false;
  return std::count_if(devices.begin(), devices.end(),
                       [&](const Device& other) { return other.unique_id == device.unique_id; }) <= 1;
}

// Partitions share their card's unique id: there only the number says which, and in a container that has just
// one it is 0.
std::string rocr_selector(const Device& device, Isolation isolation, const std::vector<Device>& devices) {
  if (has_own_unique_id(device, devices)) return "GPU-" + device.unique_id;
  if (isolation == Isolation::device_nodes) return "0";
  // ROCr ends its list at a token it does not know: "none" hides everything, so that the proof fails instead
  // of a neighbour being used.
  return device.hip_index ? std::to_string(*device.hip_index) : "none";
}

// v0.2's variables, which task trees read.
void name_device(const Device& device, DeviceMask& mask) {
  mask.set["AGENT_KERNEL_ARENA_HOST_GPU_ID"] =
      device.index ? std::to_string(*device.index) : identity_of(device);
  if (device.arch.empty() || device.vendor != DeviceVendor::amd) return;
  mask.set["AGENT_KERNEL_ARENA_GPU_ARCH"] = device.arch;
  for (const char* name : {"PYTORCH_ROCM_ARCH", "AMDGPU_TARGETS", "GPU_TARGETS"})
    mask.set[name] = device.arch;
}

}  // namespace

DeviceMask mask_for(const Device& device, Isolation isolation, const std::vector<Device>& devices) {
  DeviceMask mask;
  switch (device.vendor) {
    case DeviceVendor::cpu:
      return mask_for_cpu();
    case DeviceVendor::amd:
      // HIP obeys CUDA_VISIBLE_DEVICES too, and GPU_DEVICE_ORDINAL once more: all of them say "the first that
      // is left".
      mask.set = {
          {kRocr, rocr_selector(device, isolation, devices)}, {kHip, "0"}, {kCuda, "0"}, {kOrdinal, "0"}};
      mask.unset = {kCudaOrder, kNvidia};
      break;
    case DeviceVendor::nvidia:
      // An empty ROCr list hides the AMD GPUs of a mixed machine; an empty HIP list would show them all.
      mask.set = {{kCuda, device.unique_id}, {kCudaOrder, "PCI_BUS_ID"}, {kRocr, ""}};
      mask.unset = {kHip, kOrdinal};
      if (isolation == Isolation::device_nodes) {
        mask.set[kNvidia] = device.unique_id;  // what NVIDIA's container runtime passes in
      } else {
        mask.unset.push_back(kNvidia);
      }
      break;
  }
  name_device(device, mask);
  return mask;
}

DeviceMask mask_for_cpu() {
  return {{{kRocr, ""}, {kHip, "-1"}, {kCuda, "-1"}},
          {kOrdinal, kCudaOrder, kNvidia, "AGENT_KERNEL_ARENA_HOST_GPU_ID", "AGENT_KERNEL_ARENA_GPU_ARCH"}};
}

void apply_mask(const DeviceMask& mask, std::map<std::string, std::string>& environment) {
  for (const std::string& name : mask.unset) environment.erase(name);
  for (const auto& [name, value] : mask.set) environment[name] = value;
}

}  // namespace arena
