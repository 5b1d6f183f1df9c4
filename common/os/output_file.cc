#include "os/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

namespace arena {

OutputFile::OutputFile(fs::path path, Descriptor file, std::uint64_t limit)
    : path_(std::move(path)),
      file_(std::move(file)),
      head_(std::max<std::uint64_t>(limit, 2) / 2),
      tail_(head_) {}

Result<OutputFile> OutputFile::create(const fs::path& file, std::uint64_t limit) {
  if (file.empty()) return OutputFile(file, Descriptor(), limit);
  struct stat there {};
  if (::lstat(file.c_str(), &there) == 0) {
    if (!S_ISREG(there.st_mode) && !S_ISLNK(there.st_mode)) {  // root could unlink /dev/null
      return fail(ErrorCode::refused,
                  fmt::format("cannot replace output file '{}': not a regular file", file.native()));
    }
    if (::unlink(file.c_str()) != 0)
      return fail(error_from_errno(errno, "replace output file", file.native()));
  }
  Descriptor handle = open_at(AT_FDCWD, file.c_str(), O_RDWR | O_CREAT | O_EXCL);
  if (!handle) return fail(error_from_errno(errno, "create output file", file.native()));
  return OutputFile(file, std::move(handle), limit);
}

bool OutputFile::put(std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty() && error_ == 0) {
    const ssize_t written = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      error_ = errno;
      break;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return error_ == 0;
}

void OutputFile::write(std::string_view bytes) {
  if (!file_) {
    total_ += bytes.size();
    return;
  }
  while (!bytes.empty()) {
    const bool in_head = total_ < head_;
    const std::uint64_t at = in_head ? total_ : (total_ - head_) % tail_;  // within its half
    const std::uint64_t room = (in_head ? head_ : tail_) - at;
    const std::string_view piece =
        bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(room, bytes.size())));
    put(piece, in_head ? at : head_ + at);
    total_ += piece.size();
    bytes.remove_prefix(piece.size());
  }
}

Status OutputFile::finish() {
  if (file_ && error_ == 0 && total_ > head_ + tail_) {
    std::string ring(static_cast<std::size_t>(tail_), '\0');
    std::size_t size = 0;
    while (size < ring.size() && error_ == 0) {
      const ssize_t got =
          ::pread(file_.get(), ring.data() + size, ring.size() - size, static_cast<off_t>(head_ + size));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) error_ = got < 0 ? errno : EIO;
      if (got > 0) size += static_cast<std::size_t>(got);
    }
    std::rotate(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>((total_ - head_) % tail_),
                ring.end());
    const std::string line = fmt::format("\n... {} bytes left out ...\n", total_ - head_ - tail_);
    if (put(line, head_)) put(ring, head_ + line.size());
  }
  if (error_ != 0) return fail(error_from_errno(error_, "keep output in", path_.native()));
  return {};
}

}  // namespace arena
