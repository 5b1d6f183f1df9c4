#include "os/directory_handle.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "os/descriptor.h"

namespace arena {

namespace {

// For messages: where the directory is now.
std::string shown(int directory, const std::string& name) {
  boost::system::error_code ignored;
  return (fs::read_symlink(fmt::format("/proc/self/fd/{}", directory), ignored) / name).native();
}

Status check_plain(const std::string& name) {
  if (!name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos) return {};
  return fail(ErrorCode::invalid_input, fmt::format("'{}' is not a plain file name", name));
}

}  // namespace

Result<DirectoryHandle> DirectoryHandle::open(const fs::path& directory) {
  Descriptor handle = open_at(AT_FDCWD, directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!handle) return fail(error_from_errno(errno, "open directory", directory.native()));
  return DirectoryHandle(handle.release());
}

DirectoryHandle::DirectoryHandle(DirectoryHandle&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

DirectoryHandle& DirectoryHandle::operator=(DirectoryHandle&& other) noexcept {
  Descriptor(std::exchange(descriptor_, std::exchange(other.descriptor_, -1))).close();
  return *this;
}

DirectoryHandle::~DirectoryHandle() { Descriptor(descriptor_).close(); }

Status DirectoryHandle::publish(const std::string& name, std::string_view content, Sync sync,
                                Replace replace) const {
  ARENA_TRY(check_plain(name));
  std::string temporary;
  int error = EEXIST;
  for (int attempt = 0; error == EEXIST && attempt < 1000; ++attempt) {  // as arena::publish
    temporary = temporary_name(name).native();
    error = create_file(descriptor_, temporary.c_str(), content, sync);
  }
  if (error == 0) {
    error = rename_at(descriptor_, temporary.c_str(), descriptor_, name.c_str(), replace);
    if (error != 0) ::unlinkat(descriptor_, temporary.c_str(), 0);
  }
  if (error == 0 && sync == Sync::yes) error = sync_directory_at(descriptor_, ".");
  if (error == 0) return {};
  return fail(error_from_errno(error, "publish", shown(descriptor_, name)));
}

Result<std::string> DirectoryHandle::read(const std::string& name) const {
  ARENA_TRY(check_plain(name));
  std::string content;
  const int error = read_regular(descriptor_, name.c_str(), O_NOFOLLOW, content);
  if (error == 0) return content;
  const std::string path = shown(descriptor_, name);
  if (error == kNotRegular || error == ELOOP) {
    return fail(ErrorCode::corrupt, fmt::format("cannot read '{}': not a regular file", path));
  }
  return fail(error_from_errno(error, "read", path));
}

bool DirectoryHandle::is_same_as(const fs::path& directory) const {
  struct stat ours {};
  struct stat there {};
  return ::fstat(descriptor_, &ours) == 0 && ::lstat(directory.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

}  // namespace arena
