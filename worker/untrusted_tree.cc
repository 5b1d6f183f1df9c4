#include "worker/untrusted_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "os/tree.h"
#include "worker/harness_guard.h"

namespace arena {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

Error errno_error(std::string_view action, const fs::path& path) {
  return error_from_errno(errno, action, path.string());
}

// Opens component by component, so that no link is followed anywhere on the way. O_NONBLOCK: a FIFO must not
// hold us up.
Result<Descriptor> open_beneath(const fs::path& root, const std::string& relative) {
  Descriptor at(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at.is_open()) return fail(errno_error("open", root));
  const fs::path path(relative);
  for (auto part = path.begin(); part != path.end(); ++part) {
    if (*part == ".." || part->is_absolute()) {
      return fail(ErrorCode::corrupt, fmt::format("'{}' leaves '{}'", relative, root.string()));
    }
    const bool last = std::next(part) == path.end();
    const int kind = last ? O_NONBLOCK : O_DIRECTORY;
    Descriptor next(::openat(at.get(), part->c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | kind));
    if (!next.is_open()) {
      if (errno == ELOOP || errno == ENOTDIR || errno == ENXIO) {
        return fail(ErrorCode::corrupt,
                    fmt::format("'{}' is not a regular file in real directories", (root / path).string()));
      }
      return fail(errno_error("open", root / path));
    }
    at = std::move(next);
  }
  return at;
}

struct RegularFile {
  Descriptor descriptor;
  std::uint64_t size = 0;
  bool executable = false;
};

Result<RegularFile> open_regular_file(const fs::path& root, const std::string& relative) {
  ARENA_ASSIGN(Descriptor opened, open_beneath(root, relative));
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0) return fail(errno_error("stat", root / relative));
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorCode::corrupt, fmt::format("'{}' is not a regular file", (root / relative).string()));
  }
  return RegularFile{std::move(opened), static_cast<std::uint64_t>(status.st_size),
                     (status.st_mode & 0111) != 0};
}

Result<std::size_t> read_some(const RegularFile& file, char* buffer, std::size_t size, const fs::path& name) {
  for (;;) {
    const ssize_t count = ::read(file.descriptor.get(), buffer, size);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return fail(errno_error("read", name));
  }
}

Status write_all(int descriptor, const char* bytes, std::size_t size, const fs::path& name) {
  while (size > 0) {
    const ssize_t count = ::write(descriptor, bytes, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(errno_error("write", name));
    bytes += count;
    size -= static_cast<std::size_t>(count);
  }
  return {};
}

// Real directories down to the parent of `relative`, whatever stood in their place.
Status make_parents(const fs::path& root, const std::string& relative) {
  fs::path directory = root;
  for (const fs::path& part : fs::path(relative).parent_path()) {
    directory /= part;
    struct stat status {};
    if (::lstat(directory.c_str(), &status) == 0 && !S_ISDIR(status.st_mode))
      ARENA_TRY(remove_tree(directory));
    if (::mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST)
      return fail(errno_error("make directory", directory));
  }
  return {};
}

constexpr std::size_t kBlock = 1 << 16;

}  // namespace

Result<TreeListing> list_tree(const fs::path& root) {
  TreeListing listing;
  std::vector<std::string> left{""};  // directories to read, relative
  while (!left.empty()) {
    const std::string directory = std::move(left.back());
    left.pop_back();
    boost::system::error_code problem;
    fs::directory_iterator entry(directory.empty() ? root : root / directory, problem);
    if (problem && directory.empty()) return fail(error_from_errno(problem.value(), "list", root.string()));
    for (; !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
      const std::string name = entry->path().filename().string();
      std::string relative = directory.empty() ? name : fmt::format("{}/{}", directory, name);
      if (is_ignored_path(relative)) continue;
      struct stat status {};
      if (::lstat(entry->path().c_str(), &status) != 0) continue;
      TreeEntry found;
      if (S_ISDIR(status.st_mode)) {
        left.push_back(std::move(relative));
        continue;
      }
      if (S_ISREG(status.st_mode)) {
        found.size = static_cast<std::uint64_t>(status.st_size);
      } else if (S_ISLNK(status.st_mode)) {
        boost::system::error_code unreadable;
        found.kind = TreeEntry::Kind::link;
        found.link_target = fs::read_symlink(entry->path(), unreadable).string();
      } else {
        found.kind = TreeEntry::Kind::other;
      }
      listing.emplace(std::move(relative), std::move(found));
    }
  }
  return listing;
}

bool same_contents(const fs::path& root, const fs::path& other_root, const std::string& relative) {
  const auto one = open_regular_file(root, relative);
  const auto other = open_regular_file(other_root, relative);
  if (!one || !other || one->size != other->size || one->executable != other->executable) return false;
  std::vector<char> left(kBlock), right(kBlock);
  for (;;) {
    const auto count = read_some(*one, left.data(), kBlock, root / relative);
    if (!count) return false;
    std::size_t compared = 0;
    while (compared < *count) {
      const auto more = read_some(*other, right.data(), *count - compared, other_root / relative);
      if (!more || *more == 0 ||
          !std::equal(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(*more),
                      left.begin() + static_cast<std::ptrdiff_t>(compared))) {
        return false;
      }
      compared += *more;
    }
    if (*count == 0) return true;
  }
}

Result<std::string> read_beneath(const fs::path& root, const std::string& relative, std::uint64_t limit) {
  ARENA_ASSIGN(const RegularFile file, open_regular_file(root, relative));
  std::string text;
  std::vector<char> block(kBlock);
  for (;;) {
    ARENA_ASSIGN(const std::size_t count, read_some(file, block.data(), kBlock, root / relative));
    if (count == 0) return text;
    text.append(block.data(), count);
    if (text.size() > limit) {
      return fail(ErrorCode::corrupt,
                  fmt::format("'{}' is larger than {} bytes", (root / relative).string(), limit));
    }
  }
}

Status copy_beneath(const fs::path& from, const fs::path& to, const std::string& relative) {
  ARENA_ASSIGN(const RegularFile source, open_regular_file(from, relative));
  const fs::path target = to / relative;
  ARENA_TRY(make_parents(to, relative));
  ARENA_TRY(remove_tree(target));
  const Descriptor created(::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                  source.executable ? 0777 : 0666));
  if (!created.is_open()) return fail(errno_error("create", target));
  std::vector<char> block(kBlock);
  for (;;) {
    ARENA_ASSIGN(const std::size_t count, read_some(source, block.data(), kBlock, from / relative));
    if (count == 0) return {};
    ARENA_TRY(write_all(created.get(), block.data(), count, target));
  }
}

Status sync_files(const fs::path& root, const std::vector<std::string>& relatives) {
  std::set<std::string> names;  // files and every directory on the way to them
  for (const std::string& relative : relatives) {
    for (fs::path path(relative); !path.empty(); path = path.parent_path()) names.insert(path.string());
  }
  names.insert("");
  for (const std::string& name : names) {
    const fs::path path = name.empty() ? root : root / name;
    const Descriptor opened(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!opened.is_open()) return fail(errno_error("open", path));
    if (::fsync(opened.get()) != 0) return fail(errno_error("sync", path));
  }
  return {};
}

Status remove_beneath(const fs::path& root, const std::string& relative) {
  fs::path directory = root;
  for (const fs::path& part : fs::path(relative).parent_path()) {
    directory /= part;
    struct stat status {};
    if (::lstat(directory.c_str(), &status) != 0) return {};
    if (!S_ISDIR(status.st_mode)) return {};  // its path no longer leads beneath the root
  }
  return remove_tree(root / relative);
}

}  // namespace arena
