#include "os/tree.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "base/digest.h"
#include "os/tree_walk.h"

namespace arena {

namespace {

constexpr off_t kSmallFile = off_t{64} << 10;  // one read and one write are cheaper than anything clever

int copy_by_reading(int from, int to) {
  std::array<char, kSmallFile> buffer;
  while (true) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;
    if (const int error = write_all(to, {buffer.data(), static_cast<std::size_t>(got)}); error != 0)
      return error;
  }
}

// Into the empty file `to`; both positions at 0.
int copy_contents(int from, int to, off_t size, bool& can_clone) {
  if (can_clone && size > 0) {
    if (::ioctl(to, FICLONE, from) == 0) return 0;
    can_clone = false;  // not this file system, or not across these two
  }
  // Kernels and file systems refuse copy_file_range in many ways, some only after a part: reading goes on
  // from where it is.
  while (size > kSmallFile) {
    const ssize_t copied = ::copy_file_range(from, nullptr, to, nullptr, static_cast<std::size_t>(size), 0);
    if (copied < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO)) return errno;
    if (copied <= 0) break;
    size -= copied;
  }
  return copy_by_reading(from, to);
}

class Copier final : public TreeVisitor {
 public:
  Copier(const fs::path& to, Descriptor directory) : path_(to) {
    static_cast<void>(::fstat(directory.get(), &root_));
    directories_.push_back(std::move(directory));
  }

  Status enter_directory(const TreeEntry& entry) override {
    if (entry.info.st_dev == root_.st_dev && entry.info.st_ino == root_.st_ino) {
      return fail(ErrorCode::refused,
                  fmt::format("cannot copy a directory into itself ('{}')", path_.native()));
    }
    const std::string name = entry.base_name();
    static constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    if (::mkdirat(target(), name.c_str(), 0700) != 0 && errno != EEXIST) return failed(errno, entry);
    Descriptor directory = open_at(target(), name.c_str(), kFlags);
    if (!directory && (errno == ENOTDIR || errno == ELOOP)) {  // something else has the name
      if (::unlinkat(target(), name.c_str(), 0) != 0 || ::mkdirat(target(), name.c_str(), 0700) != 0) {
        return failed(errno, entry);
      }
      directory = open_at(target(), name.c_str(), kFlags);
    }
    if (!directory) return failed(errno, entry);
    directories_.push_back(std::move(directory));
    return {};
  }

  Status leave_directory(const TreeEntry& entry) override {
    const Descriptor directory = std::move(directories_.back());
    directories_.pop_back();
    return keep_attributes(directory.get(), entry, 0700);
  }

  Status file(const TreeEntry& entry) override {
    const Descriptor from =
        open_at(entry.directory, entry.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (!from) return failed(errno, entry);
    ARENA_TRY(make_room([&] { return create(entry); }, entry));
    if (const int error = copy_contents(from.get(), created_.get(), entry.info.st_size, can_clone_);
        error != 0) {
      return failed(error, entry);
    }
    ARENA_TRY(keep_attributes(created_.get(), entry, 0));
    if (::close(created_.release()) != 0) return failed(errno, entry);
    ++size_.files;
    size_.bytes += static_cast<std::uint64_t>(entry.info.st_size);
    return {};
  }

  Status link(const TreeEntry& entry, const std::string& text) override {
    ++size_.files;
    return make_room([&] { return ::symlinkat(text.c_str(), target(), entry.base_name().c_str()) == 0; },
                     entry);
  }

  const TreeSize& size() const { return size_; }

 private:
  int target() const { return directories_.back().get(); }

  bool create(const TreeEntry& entry) {
    created_ = open_at(target(), entry.base_name().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    return static_cast<bool>(created_);
  }

  // Runs `make`, which needs the name to be free; frees it if it is not.
  template <class Make>
  Status make_room(const Make& make, const TreeEntry& entry) {
    if (make()) return {};
    if (errno != EEXIST) return failed(errno, entry);
    if (::unlinkat(target(), entry.base_name().c_str(), 0) != 0) {
      if (errno != EISDIR) return failed(errno, entry);
      ARENA_TRY(remove_tree(path_ / entry.relative));
    }
    return make() ? Status() : failed(errno, entry);
  }

  Status keep_attributes(int descriptor, const TreeEntry& entry, mode_t added) const {
    const std::array<timespec, 2> times{entry.info.st_atim, entry.info.st_mtim};
    if (::fchmod(descriptor, (entry.info.st_mode & 0777) | added) != 0 ||
        ::futimens(descriptor, times.data()) != 0) {
      return failed(errno, entry);
    }
    return {};
  }

  Status failed(int error, const TreeEntry& entry) const {
    return fail(error_from_errno(error, "copy to", (path_ / entry.relative).native()));
  }

  fs::path path_;
  struct stat root_ {};
  std::vector<Descriptor> directories_;  // open ones of the copy, the innermost last
  Descriptor created_;
  TreeSize size_;
  bool can_clone_ = true;
};

class Digester final : public TreeVisitor {
 public:
  Digester(bool contents, bool stat) : has_contents_(contents), has_stat_(stat) {}

  Status enter_directory(const TreeEntry& entry) override {
    add("directory", entry);
    add_stat({entry.info.st_mode});
    return {};
  }
  Status leave_directory(const TreeEntry&) override { return {}; }

  Status file(const TreeEntry& entry) override {
    const bool executable = (entry.info.st_mode & S_IXUSR) != 0;
    add(executable ? "program" : "file", entry);
    add_stat({entry.info.st_mode, entry.info.st_size, entry.info.st_mtim.tv_sec, entry.info.st_mtim.tv_nsec});
    if (!has_contents_) return {};
    const int error = read_regular(entry.directory, entry.name.c_str(), O_NOFOLLOW, text_);
    if (error == kNotRegular)
      return fail(ErrorCode::refused, fmt::format("'{}' is no file any more", entry.relative));
    if (error != 0) return fail(error_from_errno(error, "read", entry.relative));
    contents_.update_field(text_);
    return {};
  }

  Status link(const TreeEntry& entry, const std::string& target) override {
    add("link", entry);
    if (has_contents_) contents_.update_field(target);
    if (has_stat_) stat_.update_field(target);
    return {};
  }

  TreeDigests digests() { return {has_contents_ ? contents_.hex() : "", has_stat_ ? stat_.hex() : ""}; }

 private:
  void add(std::string_view kind, const TreeEntry& entry) {
    for (Digest* const digest : {has_contents_ ? &contents_ : nullptr, has_stat_ ? &stat_ : nullptr}) {
      if (digest == nullptr) continue;
      digest->update_field(kind);
      digest->update_field(entry.relative);
    }
  }
  void add_stat(std::initializer_list<std::int64_t> numbers) {
    if (!has_stat_) return;
    for (const std::int64_t number : numbers) stat_.update_field(std::to_string(number));
  }

  bool has_contents_;
  bool has_stat_;
  Digest contents_;
  Digest stat_;
  std::string text_;
};

Result<TreeDigests> digests(const fs::path& directory, const CopyOptions& options, bool contents, bool stat) {
  Digester digester(contents, stat);
  ARENA_TRY(walk_tree(directory, options, digester));
  return digester.digests();
}

}  // namespace

Result<TreeSize> copy_tree(const fs::path& from, const fs::path& to, const CopyOptions& options) {
  boost::system::error_code error;
  fs::create_directories(to, error);
  if (error) return fail(error_from_errno(error.value(), "create directory", to.native()));
  Descriptor directory = open_at(AT_FDCWD, to.c_str(), O_RDONLY | O_DIRECTORY);
  if (!directory) return fail(error_from_errno(errno, "open directory", to.native()));
  Copier copier(to, std::move(directory));
  ARENA_TRY(walk_tree(from, options, copier));
  return copier.size();
}

Result<std::string> digest_tree(const fs::path& directory, const CopyOptions& options) {
  ARENA_ASSIGN(TreeDigests both, digests(directory, options, true, false));
  return std::move(both.contents);
}

Result<std::string> stat_digest_tree(const fs::path& directory, const CopyOptions& options) {
  ARENA_ASSIGN(TreeDigests both, digests(directory, options, false, true));
  return std::move(both.stat);
}

Result<TreeDigests> digests_of_tree(const fs::path& directory, const CopyOptions& options) {
  return digests(directory, options, true, true);
}

}  // namespace arena
