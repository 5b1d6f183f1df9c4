#pragma once
// The device of a worker. A GPU is taken in this order: its lock, which is held for as long as this object
// lives; the mask that shows it to tasks; the proof, by the runtimes under that mask, that it is the one that
// was assigned. A CPU slot has a mask that hides every GPU, and nothing to prove. Not thread-safe; never for
// use while a child of the process runs.
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/path.h"
#include "device/device.h"
#include "device/device_lock.h"
#include "device/device_mask.h"
#include "os/process.h"

namespace arena {

struct DeviceAssignment {
  std::string identity;  // identity_of(Device), or cpu_slot_identity
  fs::path arena_probe;
  Isolation isolation = Isolation::environment;
  bool wait = false;   // for a GPU that somebody else holds
  std::string holder;  // one line about us, for others who want it
};

class AssignedDevice {
 public:
  // A CPU slot without a name.
  AssignedDevice();

  // busy: somebody else holds it. refused: what tasks would see is not exactly this device, with both
  // addresses. not_found: it is not on this machine, or cannot be used, and why. cancelled: `stop` answered
  // true while it waited.
  static Result<AssignedDevice> take(const DeviceAssignment& assignment, const EnvironmentMap& environment,
                                     const std::function<bool()>& stop);

  const DeviceMask& mask() const { return mask_; }
  const std::optional<Device>& device() const { return device_; }  // as it was found; nothing for a CPU slot
  // Identity, driver, runtime and library versions, for results.
  const std::map<std::string, std::string>& facts() const { return facts_; }

  // Asks the driver again. io, with the reason, when the device became sick since it was taken: lost, hung,
  // used by a stranger, its memory not given back. To be asked while nothing of ours runs on it.
  Status check_health() const;

 private:
  Status prove(const std::vector<Device>& devices);

  fs::path arena_probe_;
  EnvironmentMap environment_;
  Isolation isolation_ = Isolation::environment;
  std::optional<Device> device_;
  std::optional<DeviceLock> lock_;
  DeviceMask mask_;
  std::map<std::string, std::string> facts_;
};

}  // namespace arena
