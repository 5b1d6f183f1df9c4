#pragma once
// The processes that came from ours: seen, signalled, reaped, proved gone. For the files of this directory
// only.
//
// The proof is waitid answering that there is no child left. We are PID 1 or child subreaper, so whatever
// lost its parent is our child; and as long as any descendant lives or is unreaped, the topmost of its
// ancestors below us is our child too.
#include <sys/types.h>

#include <set>
#include <utility>

#include "base/result.h"
#include "os/process.h"

namespace arena {

class Descendants {
 public:
  // `spared`: children that are none of our business here (a coordinator's workers), with all that is below
  // them.
  explicit Descendants(ReapMode mode, std::set<pid_t> spared = {})
      : mode_(mode), spared_(std::move(spared)) {}
  static std::set<pid_t> children_now();
  // To those that live, except the spared. `group`: the process group of the tracked child while that is not
  // reaped, else 0; unlike a walk, one signal to a group cannot miss a member that is just being born.
  void signal(int signal_number, pid_t group) const;
  bool any_left() const;  // alive or not yet reaped, except the spared
  // Reaps whoever has ended, except `tracked` (0: none), whose status its owner wants, and the spared. The
  // number of those that were killed with SIGKILL.
  int reap(pid_t tracked) const;
  // Kills and reaps until none is left; the number killed. An error names one that would not go.
  Result<int> end() const;

 private:
  std::string name_one_left() const;
  ReapMode mode_;
  std::set<pid_t> spared_;
};

}  // namespace arena
