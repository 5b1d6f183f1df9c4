#pragma once
// An open directory: what is written through it lands in that very directory, wherever it has been moved
// since. A worker opens its workspace when an attempt starts, so that a late result never lands in the place
// of a newer attempt.
#include <string>
#include <string_view>

#include "os/file_system.h"

namespace arena {

class DirectoryHandle {
 public:
  static Result<DirectoryHandle> open(const fs::path& directory);  // refuses a symbolic link
  DirectoryHandle(DirectoryHandle&& other) noexcept;
  DirectoryHandle& operator=(DirectoryHandle&& other) noexcept;
  ~DirectoryHandle();

  int descriptor() const { return descriptor_; }
  // As os::publish, for a plain name in this directory.
  Status publish(const std::string& name, std::string_view content, Sync sync, Replace replace) const;
  Result<std::string> read(const std::string& name) const;  // a regular file only; symbolic links are refused
  bool is_same_as(const fs::path& directory) const;         // does the path still lead to this directory?

 private:
  explicit DirectoryHandle(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace arena
