#include "coordinator/run_lock.h"

#include <sys/stat.h>

#include <fmt/format.h>
#include <fstream>

#include "base/text.h"

namespace arena {

namespace {

Error in_use(const QueueLayout& layout) {
  return {
      ErrorCode::refused,
      fmt::format("run {} is in use by another arena-coord; nothing was changed (see arena-coord status {})",
                  layout.run_name(), layout.run_directory().string())};
}

Result<FileLock> or_in_use(Result<FileLock> lock, const QueueLayout& layout) {
  if (!lock && lock.error().code == ErrorCode::busy) return fail(in_use(layout));
  return lock;
}

}  // namespace

Result<FileLock> lock_run(const QueueLayout& layout) {
  return or_in_use(FileLock::try_acquire(layout.coordinator_lock()), layout);
}

Result<FileLock> lock_unbuilt_run(const QueueLayout& layout) {
  return or_in_use(FileLock::try_acquire_existing(layout.run_record()), layout);
}

bool is_run_locked(const QueueLayout& layout) {
  struct stat status {};
  if (::stat(layout.coordinator_lock().c_str(), &status) != 0) return false;
  // "1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF". Device numbers there and in stat differ on some file
  // systems.
  std::ifstream locks("/proc/locks");
  const std::string inode = std::to_string(status.st_ino);
  for (std::string line; std::getline(locks, line);) {
    const std::vector<std::string> fields = split(line, " ");
    if (fields.size() < 6 || fields[1] != "FLOCK") continue;
    const std::vector<std::string> file = split(fields[5], ":");
    if (file.size() == 3 && file[2] == inode) return true;
  }
  return false;
}

}  // namespace arena
