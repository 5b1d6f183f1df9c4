#include "os/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include <fmt/format.h>

#include "os/descriptor.h"

namespace arena {

namespace {

Status status_of(int error, std::string_view action, const fs::path& path) {
  if (error == 0) return {};
  if (error == kNotRegular) {
    return fail(ErrorCode::corrupt, fmt::format("cannot {} '{}': not a regular file", action, path.native()));
  }
  return fail(error_from_errno(error, action, path.native()));
}

}  // namespace

Result<std::string> RealFileSystem::read(const fs::path& file) {
  std::string content;
  ARENA_TRY(status_of(read_regular(AT_FDCWD, file.c_str(), 0, content), "read", file));
  return content;
}

Status RealFileSystem::create(const fs::path& file, std::string_view content, Sync sync) {
  return status_of(create_file(AT_FDCWD, file.c_str(), content, sync), "create", file);
}

Status RealFileSystem::append(const fs::path& file, std::string_view content, Sync sync) {
  const Descriptor handle = open_at(AT_FDCWD, file.c_str(), O_WRONLY | O_APPEND | O_CREAT);
  if (!handle) return status_of(errno, "append to", file);
  ssize_t written = 0;
  do {
    written = ::write(handle.get(), content.data(), content.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) return status_of(errno, "append to", file);
  if (static_cast<std::size_t>(written) < content.size()) {
    // The disk is full. Take the torn piece back, or the next addition would be glued to it (one writer per
    // file).
    const off_t end = ::lseek(handle.get(), 0, SEEK_CUR);
    if (end >= written && ::ftruncate(handle.get(), end - written) != 0)
      return status_of(errno, "append to", file);
    return status_of(ENOSPC, "append to", file);
  }
  if (sync == Sync::yes && ::fdatasync(handle.get()) != 0) return status_of(errno, "sync", file);
  return {};
}

Status RealFileSystem::rename(const fs::path& from, const fs::path& to, Replace replace) {
  const int error = rename_at(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), replace, renames_);
  if (error == 0) return {};
  struct stat parent {};
  if (error == ENOENT && to.has_parent_path() && ::stat(to.parent_path().c_str(), &parent) != 0) {
    // Not a race lost, which is what not_found means to the caller.
    return fail(ErrorCode::io, fmt::format("cannot rename '{}' to '{}': the target's directory is missing",
                                           from.native(), to.native()));
  }
  return status_of(error, fmt::format("rename '{}' to", from.native()), to);
}

Status RealFileSystem::sync_directory(const fs::path& directory) {
  return status_of(sync_directory_at(AT_FDCWD, directory.c_str()), "sync", directory);
}

Status RealFileSystem::sync_file_system(const fs::path& directory) {
  const Descriptor handle = open_at(AT_FDCWD, directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (!handle || ::syncfs(handle.get()) != 0) return status_of(errno, "sync the file system of", directory);
  return {};
}

Result<std::vector<std::string>> RealFileSystem::list(const fs::path& directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
  if (!stream) return fail(error_from_errno(errno, "list", directory.native()));
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return fail(error_from_errno(errno, "list", directory.native()));
  return names;
}

Status RealFileSystem::remove(const fs::path& file) {
  if (::unlink(file.c_str()) == 0) return {};
  int error = errno;
  if ((error == EISDIR || error == EPERM) && ::rmdir(file.c_str()) == 0) return {};
  if (error == EISDIR) error = errno;
  return status_of(error, "remove", file);
}

Status RealFileSystem::make_directory(const fs::path& directory) {
  return status_of(::mkdir(directory.c_str(), 0777) == 0 ? 0 : errno, "create directory", directory);
}

Result<bool> RealFileSystem::exists(const fs::path& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return fail(error_from_errno(errno, "look at", path.native()));
}

fs::path temporary_name(const fs::path& file) {
  static std::atomic<std::uint64_t> counter{0};
  return fs::path(fmt::format("{}.tmp.{}.{}", file.native(), ::getpid(), counter.fetch_add(1)));
}

bool is_temporary_name(std::string_view name) {
  for (int numbers = 0; numbers < 2; ++numbers) {
    const std::size_t dot = name.find_last_not_of("0123456789");
    if (dot == std::string_view::npos || dot + 1 == name.size() || name[dot] != '.') return false;
    name.remove_suffix(name.size() - dot);
  }
  return name.size() > 4 && name.substr(name.size() - 4) == ".tmp";
}

Status publish(FileSystem& disk, const fs::path& file, std::string_view content, Sync sync, Replace replace) {
  // Processes in different PID namespaces share pids, and a dead one may have left its file: try the next
  // number.
  fs::path temporary = temporary_name(file);
  Status created = disk.create(temporary, content, sync);
  for (int attempt = 0; !created && created.error().code == ErrorCode::exists && attempt < 1000; ++attempt) {
    temporary = temporary_name(file);
    created = disk.create(temporary, content, sync);
  }
  ARENA_TRY(created);
  if (Status renamed = disk.rename(temporary, file, replace); !renamed) {
    static_cast<void>(disk.remove(temporary));
    return renamed;
  }
  if (sync == Sync::yes) return disk.sync_directory(file.parent_path().empty() ? "." : file.parent_path());
  return {};
}

Status make_directories(FileSystem& disk, const fs::path& directory) {
  Status made = disk.make_directory(directory);
  if (!made && made.error().code == ErrorCode::not_found && directory.has_parent_path()) {
    ARENA_TRY(make_directories(disk, directory.parent_path()));
    made = disk.make_directory(directory);
  }
  if (made || made.error().code != ErrorCode::exists) return made;
  ARENA_ASSIGN(const bool is_directory, disk.exists(directory / "."));
  if (is_directory) return {};
  return fail(ErrorCode::exists,
              fmt::format("cannot create directory '{}': a file of that name is there", directory.native()));
}

std::string network_file_system_name(const fs::path& path) {
  struct statfs info {};
  fs::path existing = path;
  while (::statfs(existing.c_str(), &info) != 0) {
    if (errno != ENOENT || !existing.has_parent_path()) return "";
    existing = existing.parent_path();
  }
  switch (static_cast<std::uint32_t>(info.f_type)) {
    case 0x6969:
      return "NFS";
    case 0x517B:
    case 0xFF534D42:
    case 0xFE534D42:
      return "SMB";
    case 0x0BD00BD0:
      return "Lustre";
    case 0x00C36400:
      return "Ceph";
    case 0x47504653:
      return "GPFS";
    case 0x19830326:
      return "BeeGFS";
    case 0x65735546:
      return "FUSE";
    case 0x01021997:
      return "9P";
    case 0x5346414F:
    case 0x6B414653:
      return "AFS";
    case 0xAAD7AAEA:
      return "PanFS";
    case 0x01161970:
      return "GFS2";
    case 0x7461636F:
      return "OCFS2";
    case 0x786F4256:
      return "vboxsf";
    default:
      return "";
  }
}

Renames renames_on(const fs::path& path) {
  return network_file_system_name(path).empty() ? Renames::exact : Renames::may_repeat;
}

}  // namespace arena
