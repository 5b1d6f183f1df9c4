#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "os/tree.h"
#include "os/tree_walk.h"

namespace arena {

namespace {

constexpr int kDeepest =
    200;  // open directories at once; what lies deeper is moved up and removed from there
constexpr int kMostPasses = 1000;  // over one directory, while entries appear in it

// Removes below one directory, going on after an error: the first one is kept.
class Remover {
 public:
  explicit Remover(int top) : top_(top) {}

  void empty_directory(int directory, const std::string& shown, int depth) {
    struct stat info {};
    if (::fstat(directory, &info) == 0 && (info.st_mode & 0700) != 0700)
      static_cast<void>(::fchmod(directory, 0700));
    for (int pass = 0; pass < kMostPasses && error_ == 0; ++pass) {
      std::vector<std::string> names;
      if (::lseek(directory, 0, SEEK_SET) != 0) return note(errno, shown);
      if (const int error = list_at(directory, names); error != 0) return note(error, shown);
      if (names.empty()) return;
      for (const std::string& name : names) remove(directory, name, fmt::format("{}/{}", shown, name), depth);
    }
    if (error_ == 0) note(ENOTEMPTY, shown);
  }

  int error() const { return error_; }
  const std::string& where() const { return where_; }

 private:
  void remove(int directory, const std::string& name, const std::string& shown, int depth) {
    if (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return;
    const int error = errno;
    if (error != EISDIR && error != EPERM) return note(error, shown);
    if (depth >= kDeepest) {
      const std::string moved = fmt::format(".removed.{}.{}", ::getpid(), ++moved_);
      if (::renameat(directory, name.c_str(), top_, moved.c_str()) != 0) note(errno, shown);
      return;  // the next pass over the top finds it
    }
    Descriptor child = open_at(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!child && errno == EACCES) child = open_refusing(directory, name);
    if (!child) return note(errno == ENOTDIR ? error : errno, shown);
    empty_directory(child.get(), shown, depth + 1);
    if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) note(errno, shown);
  }

  // A directory without read or search permission. Changed through a handle, so that no link put there
  // meanwhile is followed.
  static Descriptor open_refusing(int directory, const std::string& name) {
    const Descriptor handle = open_at(directory, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (!handle) return {};
    const std::string path = fmt::format("/proc/self/fd/{}", handle.get());
    if (::chmod(path.c_str(), 0700) != 0) return {};
    return open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY);
  }

  void note(int error, const std::string& shown) {
    if (error_ != 0) return;
    error_ = error;
    where_ = shown;
  }

  int top_;
  int error_ = 0;
  int moved_ = 0;
  std::string where_;
};

}  // namespace

Status remove_tree(const fs::path& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return fail(error_from_errno(errno, "remove", path.native()));
  Descriptor top = open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!top && errno == EACCES && ::chmod(path.c_str(), 0700) == 0) {
    top = open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  }
  if (!top) return fail(error_from_errno(errno, "remove", path.native()));
  Remover remover(top.get());
  remover.empty_directory(top.get(), path.native(), 0);
  if (remover.error() != 0) return fail(error_from_errno(remover.error(), "remove", remover.where()));
  if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
  return fail(error_from_errno(errno, "remove", path.native()));
}

}  // namespace arena
