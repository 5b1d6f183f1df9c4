#include "os/descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace arena {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = other.release();
  }
  return *this;
}

int Descriptor::release() { return std::exchange(number_, -1); }

void Descriptor::close() {
  if (number_ >= 0) ::close(release());
}

Descriptor open_at(int directory, const char* name, int flags, unsigned mode) {
  int number = -1;
  do {
    number = ::openat(directory, name, flags | O_CLOEXEC, mode);
  } while (number < 0 && errno == EINTR);
  return Descriptor(number);
}

int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int read_regular(int directory, const char* name, int flags, std::string& content) {
  // O_NONBLOCK: a FIFO put in the place of a file must not hang us before we see what it is.
  const Descriptor file = open_at(directory, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | flags);
  if (!file) return errno == ENXIO ? kNotRegular : errno;
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return errno;
  if (!S_ISREG(info.st_mode)) return kNotRegular;
  // One more than there is, to see the end in the same round; files of /proc say 0.
  content.resize(info.st_size == 0 ? 4096 : static_cast<std::size_t>(info.st_size) + 1);
  std::size_t size = 0;
  while (true) {
    const ssize_t got = ::read(file.get(), content.data() + size, content.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    size += static_cast<std::size_t>(got);
    if (size < content.size()) break;  // of a regular file a short read is the last one
    content.resize(2 * size);          // it grows while we read
  }
  content.resize(size);
  return 0;
}

int create_file(int directory, const char* name, std::string_view content, Sync sync) {
  Descriptor file = open_at(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!file) return errno;
  int error = write_all(file.get(), content);
  if (error == 0 && sync == Sync::yes && ::fsync(file.get()) != 0) error = errno;
  // Network file systems and quotas report a failed write only here.
  if (::close(file.release()) != 0 && error == 0 && errno != EINTR) error = errno;
  if (error != 0) ::unlinkat(directory, name, 0);
  return error;
}

int sync_directory_at(int directory, const char* name) {
  const Descriptor handle = open_at(directory, name, O_RDONLY | O_DIRECTORY);
  if (!handle) return errno;
  // EINVAL: this file system has no such notion, and nothing else to offer either.
  return ::fsync(handle.get()) == 0 || errno == EINVAL ? 0 : errno;
}

int system_rename(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) {
  return static_cast<int>(::syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
}

namespace {

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int rename_no_replace(int from_directory, const char* from, int to_directory, const char* to,
                      RenameCall call) {
  static constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE
  if (call(from_directory, from, to_directory, to, kNoReplace) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // NFS and some others do not know the flag. Look, then rename: not atomic, but every target name that must
  // not be replaced is unique to its writer (worker id, attempt), so nobody can put the same name there in
  // between.
  struct stat there {};
  if (::fstatat(to_directory, to, &there, AT_SYMLINK_NOFOLLOW) == 0) return EEXIST;
  return call(from_directory, from, to_directory, to, 0) == 0 ? 0 : errno;
}

// Exchanging is the one rename that fails when the target is gone; what stood there is then removed.
int rename_over_existing(int from_directory, const char* from, int to_directory, const char* to,
                         RenameCall call) {
  static constexpr unsigned kExchange = 2;  // RENAME_EXCHANGE
  if (call(from_directory, from, to_directory, to, kExchange) != 0) return errno;
  ::unlinkat(from_directory, from, 0);  // if not, a temporary name is left, nothing worse
  return 0;
}

}  // namespace

int rename_at(int from_directory, const char* from, int to_directory, const char* to, Replace replace,
              Renames renames, RenameCall call) {
  if (replace == Replace::must) {
    const int error = rename_over_existing(from_directory, from, to_directory, to, call);
    if (error != EINVAL && error != ENOSYS) return error;
    // NFS and some others cannot. Look, then rename: not atomic, and nothing better is to be had there.
    struct stat there {};
    if (::fstatat(to_directory, to, &there, AT_SYMLINK_NOFOLLOW) != 0) return errno;
  }
  // Remember which file it is. When a network file system repeats a request whose reply was lost, the second
  // one finds the source gone and the caller reads ENOENT (or EIO, ESTALE) for a rename that happened. Only
  // "the source's name no longer leads to this file and the target's does" says so: a target that was there
  // before, or that somebody else put there, is another file.
  struct stat source {};
  if (renames == Renames::may_repeat && ::fstatat(from_directory, from, &source, AT_SYMLINK_NOFOLLOW) != 0)
    return errno;
  int error = 0;
  if (replace == Replace::no) {
    error = rename_no_replace(from_directory, from, to_directory, to, call);
  } else if (call(from_directory, from, to_directory, to, 0) != 0) {
    error = errno == ENOSYS && ::renameat(from_directory, from, to_directory, to) == 0 ? 0 : errno;
  }
  if (error == 0 || renames == Renames::exact) return error;
  struct stat left {};
  struct stat moved {};
  const bool source_left =
      ::fstatat(from_directory, from, &left, AT_SYMLINK_NOFOLLOW) == 0 && is_same_file(left, source);
  const bool at_target =
      ::fstatat(to_directory, to, &moved, AT_SYMLINK_NOFOLLOW) == 0 && is_same_file(moved, source);
  return !source_left && at_target ? 0 : error;
}

}  // namespace arena
