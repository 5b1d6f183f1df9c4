#pragma once
// NVML opened and started. Used by one thread.
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/probe/nvml_calls.h"
#include "device/probe/vendor_library.h"
#include "device/probe_report.h"

namespace arena {

class Nvml {
 public:
  // Fills `report` and returns nothing when it cannot be started.
  static std::optional<Nvml> start(SourceReport& report);
  ~Nvml();
  Nvml(Nvml&& other) noexcept
      : library_(std::move(other.library_)), started_(std::exchange(other.started_, false)) {}
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::string explain(nvml::Status status) const;
  nvml::Status count(unsigned& devices) const;
  nvml::Status handle(unsigned index, nvml::Handle& handle) const;
  // Identity only; nothing if even the PCI address cannot be told.
  std::optional<Device> identify(nvml::Handle handle) const;
  void read_values(nvml::Handle handle, Device& device) const;
  // What holds the clock down now, as words: "power cap", "thermal"; empty: nothing. Absent if not known.
  std::optional<std::vector<std::string>> throttle(nvml::Handle handle) const;
  std::optional<unsigned> minor_number(nvml::Handle handle) const;
  bool mig_is_on(nvml::Handle handle) const;

 private:
  explicit Nvml(VendorLibrary library) : library_(std::move(library)), started_(true) {}
  template <class Function, class... Arguments>
  nvml::Status call(const char* name, Arguments... arguments) const {
    return call_if_there(library_.find<Function>(name), nvml::kFunctionNotFound, arguments...);
  }
  std::string text(const char* function, nvml::Handle handle) const;
  std::optional<unsigned> number(const char* function, nvml::Handle handle, int kind) const;
  std::optional<std::vector<DeviceProcess>> processes(nvml::Handle handle) const;
  VendorLibrary library_;
  bool started_;
};

}  // namespace arena
