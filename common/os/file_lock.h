#pragma once
// flock(2) on a file, held until destroyed or until the process dies. Close-on-exec: no child inherits it.
#include "base/path.h"
#include "base/result.h"

namespace arena {

class FileLock {
 public:
  // Creates the file if needed. busy when somebody else holds it.
  static Result<FileLock> try_acquire(const fs::path& file);
  // As above for a file that must exist already (not_found otherwise), and whose name must still lead to the
  // locked file afterwards: a lock file removed in between is not_found too.
  static Result<FileLock> try_acquire_existing(const fs::path& file);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace arena
