#include "os/tree_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include <fmt/format.h>

namespace arena {

namespace {

constexpr int kMostDereferences = 8;  // one inside another: links of a kit that lead in a circle

// The real path of `name`, empty with errno if it leads nowhere. Resolved by the kernel, so that a directory
// moved meanwhile does not matter.
std::string real_path(int directory, const std::string& name) {
  const std::string path = directory == AT_FDCWD ? name : fmt::format("/proc/self/fd/{}/{}", directory, name);
  std::array<char, PATH_MAX> resolved{};
  return ::realpath(path.c_str(), resolved.data()) != nullptr ? std::string(resolved.data()) : "";
}

// The real path of an open directory.
std::string real_path(int directory) {
  std::array<char, PATH_MAX> resolved{};
  const ssize_t size =
      ::readlink(fmt::format("/proc/self/fd/{}", directory).c_str(), resolved.data(), resolved.size());
  return size > 0 ? std::string(resolved.data(), static_cast<std::size_t>(size)) : "";
}

bool is_within(std::string_view path, std::string_view root) {
  return path.substr(0, root.size()) == root &&
         (path.size() == root.size() || path[root.size()] == '/' || root == "/");
}

std::size_t depth_of(std::string_view relative) {
  return relative.empty() ? 0
                          : static_cast<std::size_t>(std::count(relative.begin(), relative.end(), '/')) + 1;
}

// Whether the text of a link, read in a directory `depth` levels below the root, never climbs above the root.
bool text_stays_inside(std::string_view target, std::size_t depth) {
  if (target.empty() || target.front() == '/') return false;
  while (!target.empty()) {
    const std::size_t end = std::min(target.find('/'), target.size());
    const std::string_view part = target.substr(0, end);
    target.remove_prefix(std::min(end + 1, target.size()));
    if (part == "..") {
      if (depth == 0) return false;
      --depth;
    } else if (!part.empty() && part != ".") {
      ++depth;
    }
  }
  return true;
}

// What links are judged against: the tree, or the directory that a link was replaced by.
struct Root {
  std::string real;       // left out for the tree itself: Walk::real_of
  std::size_t depth = 0;  // of `real` in the tree
  int dereferences = 0;
};

class Walk {
 public:
  Walk(fs::path root, const CopyOptions& options, TreeVisitor& visitor)
      : path_(std::move(root)), options_(options), visitor_(visitor) {}

  Status start() {
    const Descriptor directory = open_at(AT_FDCWD, path_.c_str(), O_RDONLY | O_DIRECTORY);
    if (!directory) return fail(error_from_errno(errno, "read directory", path_.native()));
    top_ = directory.get();
    return walk(top_, "", Root{});
  }

 private:
  std::string shown(const std::string& relative) const { return (path_ / relative).native(); }

  Status walk(int directory, const std::string& relative, const Root& root) {
    std::vector<std::string> names;
    if (const int error = list_at(directory, names); error != 0) {
      return fail(error_from_errno(error, "read directory", shown(relative)));
    }
    for (const std::string& name : names) {
      TreeEntry entry;
      entry.relative = relative.empty() ? name : fmt::format("{}/{}", relative, name);
      if (options_.excluded && options_.excluded(entry.relative)) continue;
      entry.directory = directory;
      entry.name = name;
      if (::fstatat(directory, name.c_str(), &entry.info, AT_SYMLINK_NOFOLLOW) != 0) {
        return fail(error_from_errno(errno, "read", shown(entry.relative)));
      }
      ARENA_TRY(S_ISLNK(entry.info.st_mode) ? visit_link(entry, root) : visit(entry, root));
    }
    return {};
  }

  Status visit(const TreeEntry& entry, const Root& root) {
    if (S_ISREG(entry.info.st_mode)) return visitor_.file(entry);
    if (!S_ISDIR(entry.info.st_mode)) {
      return fail(
          ErrorCode::refused,
          fmt::format("cannot take '{}': neither file, directory nor symbolic link", shown(entry.relative)));
    }
    const Descriptor directory =
        open_at(entry.directory, entry.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!directory) return fail(error_from_errno(errno, "read directory", shown(entry.relative)));
    ARENA_TRY(visitor_.enter_directory(entry));
    ARENA_TRY(walk(directory.get(), entry.relative, root));
    return visitor_.leave_directory(entry);
  }

  Status visit_link(const TreeEntry& link, const Root& root) {
    std::array<char, PATH_MAX> text{};
    const ssize_t size = ::readlinkat(link.directory, link.name.c_str(), text.data(), text.size());
    if (size < 0) return fail(error_from_errno(errno, "read link", shown(link.relative)));
    const std::string target(text.data(), static_cast<std::size_t>(size));
    if (options_.keep_outside_links) return visitor_.link(link, target);

    const std::string real = real_path(link.directory, link.name);
    const bool leads_nowhere = real.empty() && errno == ENOENT;
    if (text_stays_inside(target, depth_of(link.relative) - 1 - root.depth) &&
        (leads_nowhere || (!real.empty() && is_within(real, real_of(root))))) {
      return visitor_.link(link, target);
    }
    if (!real.empty() && !is_within(real, real_of(root)) && may_dereference(real))
      return visit_target(link, real, root);
    return fail(ErrorCode::refused,
                fmt::format("cannot take '{}': the symbolic link leads out of its tree, to '{}'",
                            shown(link.relative), target));
  }

  Status visit_target(const TreeEntry& link, const std::string& real, const Root& root) {
    if (root.dereferences == kMostDereferences) {
      return fail(ErrorCode::refused,
                  fmt::format("cannot take '{}': symbolic links lead in a circle", shown(link.relative)));
    }
    TreeEntry target;
    target.relative = link.relative;
    target.directory = AT_FDCWD;
    target.name = real;
    if (::lstat(real.c_str(), &target.info) != 0) return fail(error_from_errno(errno, "read", real));
    return visit(target, Root{real, depth_of(link.relative), root.dereferences + 1});
  }

  const std::string& real_of(const Root& root) {
    if (root.dereferences > 0) return root.real;
    if (real_top_.empty()) real_top_ = real_path(top_);
    return real_top_;
  }

  bool may_dereference(const std::string& real) {
    if (options_.dereference_below.empty()) return false;
    if (dereference_below_.empty())
      dereference_below_ = real_path(AT_FDCWD, options_.dereference_below.native());
    return !dereference_below_.empty() && is_within(real, dereference_below_);
  }

  fs::path path_;
  const CopyOptions& options_;
  TreeVisitor& visitor_;
  int top_ = -1;
  std::string real_top_;           // real path of the tree, once needed
  std::string dereference_below_;  // and of that directory
};

}  // namespace

Status walk_tree(const fs::path& root, const CopyOptions& options, TreeVisitor& visitor) {
  return Walk(root, options, visitor).start();
}

// The system call itself: opendir would cost four calls more, and trees are walked by the ten thousand.
int list_at(int directory, std::vector<std::string>& names) {
  alignas(dirent64) std::array<char, 32768> buffer;
  while (true) {
    const long size = ::syscall(SYS_getdents64, directory, buffer.data(), buffer.size());
    if (size < 0) return errno;
    if (size == 0) break;
    for (long at = 0; at < size;) {
      const auto* const item = reinterpret_cast<const dirent64*>(buffer.data() + at);
      const std::string_view name = item->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      at += item->d_reclen;
    }
  }
  std::sort(names.begin(), names.end());
  return 0;
}

}  // namespace arena
