#pragma once
// agent/changes.patch: what the agent changed, for people and for `patch -p1`.
#include "os/process.h"
#include "worker/harness_guard.h"

namespace arena {

// Runs `diff -u` for each file that counts, between the pristine task and the copies in `candidate`. What did
// not count is named in comment lines. An error: `diff` is not there, or the disk is full.
Status write_changes_patch(ProcessRunner& runner, const Takeover& takeover, const fs::path& pristine,
                           const fs::path& candidate, const fs::path& target);

}  // namespace arena
