#include "device/device_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "os/descriptor.h"

namespace arena {

namespace {

constexpr mode_t kEverybody = 0666;
constexpr mode_t kSharedFolder = 01777;

// Another user's file may only be readable, and may not be opened with O_CREAT in a sticky folder
// (fs.protected_regular).
Result<Descriptor> open_lock_file(const fs::path& file) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    for (const int mode : {O_RDWR, O_RDONLY}) {
      Descriptor handle(::open(file.c_str(), mode | O_CLOEXEC | O_NOFOLLOW));
      if (handle) return handle;
      if (errno != EACCES && errno != EROFS && errno != EPERM) break;
    }
    if (errno != ENOENT) break;
    Descriptor handle(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kEverybody));
    if (handle) {
      ::fchmod(handle.get(), kEverybody);  // whatever the umask: other users lock it too
      return handle;
    }
    if (errno != EEXIST) break;
  }
  return fail(error_from_errno(errno, "open the lock", file.native()));
}

std::string read_holder(int descriptor) {
  std::array<char, 512> bytes;
  const ssize_t got = ::pread(descriptor, bytes.data(), bytes.size(), 0);
  const std::string_view text(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const std::string holder = to_printable_utf8(trim(text.substr(0, text.find('\n'))));
  return holder.empty() ? "a process that did not say who it is" : holder;
}

void write_holder(int descriptor, const std::string& holder) {
  // On a read-only descriptor these fail, and the lock holds all the same.
  if (::ftruncate(descriptor, 0) != 0) return;
  const std::string line = holder + "\n";
  static_cast<void>(::pwrite(descriptor, line.data(), line.size(), 0) == 0);
}

bool lock_now(int descriptor, int kind) {
  int result = 0;
  do {
    result = ::flock(descriptor, kind | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

Status make_shared_folder(const fs::path& directory) {
  if (::mkdir(directory.c_str(), 0777) == 0) {
    ::chmod(directory.c_str(), kSharedFolder);
  } else if (errno != EEXIST) {
    return fail(error_from_errno(errno, "make the lock folder", directory.native()));
  }
  return {};
}

}  // namespace

Result<fs::path> device_lock_directory() {
  const char* const asked = std::getenv("ARENA_LOCK_DIR");
  fs::path directory = "/run/lock/arena";
  struct stat status {};
  if (asked != nullptr && *asked != '\0') {
    directory = asked;
  } else if (::stat(directory.c_str(), &status) != 0 &&
             (::stat("/run/lock", &status) != 0 || (status.st_mode & S_IWOTH) == 0)) {
    // Where only root could make it, root must not: an ordinary user's run would lock elsewhere.
    directory = "/tmp/arena-lock";
  }
  ARENA_TRY(make_shared_folder(directory));
  return directory;
}

std::string device_lock_name(const Device& device) {
  const std::string address = to_string(device.pci_address);
  return device.partition ? fmt::format("{}.p{}.lock", address, *device.partition) : address + ".lock";
}

Result<DeviceLock> DeviceLock::try_acquire(const fs::path& directory, const Device& device,
                                           const std::string& holder) {
  const fs::path file = directory / device_lock_name(device);
  ARENA_ASSIGN(Descriptor handle, open_lock_file(file));
  // holder_of() locks for an instant only, to look.
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (lock_now(handle.get(), LOCK_EX)) {
      write_holder(handle.get(), holder);
      return DeviceLock(handle.release());
    }
    if (errno != EWOULDBLOCK) return fail(error_from_errno(errno, "lock", file.native()));
    ::poll(nullptr, 0, 2);
  }
  return fail(ErrorCode::busy,
              fmt::format("cannot take {}: {} has it (lock '{}'); --wait-for-gpu waits until it is free",
                          describe(device), read_holder(handle.get()), file.native()));
}

Result<DeviceLock> DeviceLock::acquire(const fs::path& directory, const Device& device,
                                       const std::string& holder, const std::function<bool()>& stop,
                                       std::chrono::milliseconds period) {
  for (;;) {
    auto lock = try_acquire(directory, device, holder);
    if (lock || lock.error().code != ErrorCode::busy) return lock;
    if (stop())
      return fail(ErrorCode::cancelled, fmt::format("stopped while waiting for {}", describe(device)));
    ::poll(nullptr, 0, static_cast<int>(period.count()));
  }
}

std::optional<std::string> DeviceLock::holder_of(const fs::path& directory, const Device& device) {
  const fs::path file = directory / device_lock_name(device);
  const Descriptor handle(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!handle || lock_now(handle.get(), LOCK_SH)) return std::nullopt;
  return read_holder(handle.get());
}

DeviceLock::DeviceLock(DeviceLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

DeviceLock& DeviceLock::operator=(DeviceLock&& other) noexcept {
  Descriptor(std::exchange(descriptor_, std::exchange(other.descriptor_, -1))).close();
  return *this;
}

DeviceLock::~DeviceLock() { Descriptor(descriptor_).close(); }

}  // namespace arena
