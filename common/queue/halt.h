#pragma once
// Halting: a file that stops every further claim of the run (QueueLayout::halt_file) or of one worker
// (worker_halt) and says why. Running tasks go on. A person may write one by hand; an empty file halts too.
#include <optional>
#include <string>

#include "os/file_system.h"

namespace arena {

struct Halt {
  std::string by;     // coordinator, user, worker id
  std::string cause;  // drain, quota, no_space, failures, stop
  std::string message;
};

Status request_halt(FileSystem& disk, const fs::path& halt_file, const Halt& halt);  // an earlier halt stays
// Nothing if there is none. A file that cannot be understood is a halt all the same, with the problem as its
// message.
Result<std::optional<Halt>> read_halt(FileSystem& disk, const fs::path& halt_file);
Status clear_halt(FileSystem& disk, const fs::path& halt_file);  // fine if there is none

}  // namespace arena
