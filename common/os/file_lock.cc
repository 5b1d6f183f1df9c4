#include "os/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "os/descriptor.h"

namespace arena {

namespace {

// The locked file, or nothing if its name no longer leads to it: somebody removed it between our open and our
// lock, and whoever comes next would lock another file of that name.
Result<Descriptor> lock_file(const fs::path& file, int flags) {
  Descriptor handle = open_at(AT_FDCWD, file.c_str(), O_RDWR | O_NOFOLLOW | flags);
  if (!handle) return fail(error_from_errno(errno, "lock", file.native()));
  int locked = 0;
  do {
    locked = ::flock(handle.get(), LOCK_EX | LOCK_NB);
  } while (locked != 0 && errno == EINTR);
  if (locked != 0 && errno == EWOULDBLOCK) {
    return fail(ErrorCode::busy, fmt::format("cannot lock '{}': another process holds it", file.native()));
  }
  if (locked != 0) return fail(error_from_errno(errno, "lock", file.native()));
  struct stat ours {};
  struct stat there {};
  if (::fstat(handle.get(), &ours) != 0) return fail(error_from_errno(errno, "lock", file.native()));
  const bool same =
      ::lstat(file.c_str(), &there) == 0 && ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
  return same ? std::move(handle) : Descriptor();
}

}  // namespace

Result<FileLock> FileLock::try_acquire(const fs::path& file) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    ARENA_ASSIGN(Descriptor handle, lock_file(file, O_CREAT));
    if (handle) return FileLock(handle.release());
  }
  return fail(ErrorCode::busy, fmt::format("cannot lock '{}': it is removed again and again", file.native()));
}

Result<FileLock> FileLock::try_acquire_existing(const fs::path& file) {
  ARENA_ASSIGN(Descriptor handle, lock_file(file, 0));
  if (handle) return FileLock(handle.release());
  return fail(error_from_errno(ENOENT, "lock", file.native()));
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  Descriptor(std::exchange(descriptor_, std::exchange(other.descriptor_, -1))).close();
  return *this;
}

FileLock::~FileLock() { Descriptor(descriptor_).close(); }

}  // namespace arena
