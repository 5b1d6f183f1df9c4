#pragma once
// Starting a child, for the files of this directory only. The child shares our memory until it has called
// exec (as with vfork), so a failure before that comes back as an errno and there is no half-started child to
// recognize by an exit code.
#include "os/descriptor.h"
#include "os/process.h"

namespace arena {

struct SpawnRequest {
  const std::vector<std::string>& argv;
  const EnvironmentMap& environment;
  const fs::path& working_directory;
  int input = -1;                  // becomes descriptor 0
  int output = -1;                 // becomes descriptors 1 and 2
  bool new_session = true;         // else its own process group in our session
  bool new_pid_namespace = false;  // where the system allows it, see Spawned::pid_namespace
  int error = -1;                  // becomes descriptor 2 instead of `output`
};

struct Spawned {
  pid_t pid = 0;
  Descriptor pidfd;
  bool pid_namespace = false;
};

Result<Spawned> spawn(const SpawnRequest& request);

// How the child behind a pidfd ended, reaping it. Nothing while it runs or if it is not our child.
std::optional<ProcessEnd> reap_child(int pidfd);

}  // namespace arena
