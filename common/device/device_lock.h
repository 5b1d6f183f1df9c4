#pragma once
// A device is taken for exactly as long as somebody holds the flock(2) on its file in a folder that every run
// of the machine knows, so two runs never share a GPU. The holder writes who it is into the file, for people;
// only the flock counts. Works on a file of another user and on a read-only mount of it. Held until destroyed
// or until the process dies; no child inherits it.
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/path.h"
#include "device/device.h"

namespace arena {

// $ARENA_LOCK_DIR; else /run/lock/arena where it exists or everybody could make it; else /tmp/arena-lock. The
// same for every user of a machine. Made if it is missing.
Result<fs::path> device_lock_directory();

// "0000:c1:00.0.lock", for a partition "0000:c1:00.0.p3.lock".
std::string device_lock_name(const Device& device);

class DeviceLock {
 public:
  // busy, naming the holder, when somebody has it. `holder` is one line about the caller.
  static Result<DeviceLock> try_acquire(const fs::path& directory, const Device& device,
                                        const std::string& holder);
  // Tries again every `period` until it has it (or fails otherwise), or until `stop` answers true: cancelled
  // then.
  static Result<DeviceLock> acquire(const fs::path& directory, const Device& device,
                                    const std::string& holder, const std::function<bool()>& stop,
                                    std::chrono::milliseconds period = std::chrono::milliseconds(500));
  // Who has it now; nothing if it is free.
  static std::optional<std::string> holder_of(const fs::path& directory, const Device& device);

  DeviceLock(DeviceLock&& other) noexcept;
  DeviceLock& operator=(DeviceLock&& other) noexcept;
  ~DeviceLock();

 private:
  explicit DeviceLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace arena
