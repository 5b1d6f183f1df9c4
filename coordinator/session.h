#pragma once
// One coordinator at work on one run, from a built queue under its lock to the summary: takes over what an
// earlier one left, puts the queue in order, supervises workers, writes the reports. Starting and resuming
// differ only in what comes before.
#include <string>
#include <vector>

#include "coordinator/commands.h"
#include "coordinator/options.h"
#include "model/run_record.h"
#include "os/file_lock.h"
#include "queue/queue_layout.h"

namespace arena {

struct Session {
  QueueLayout layout;
  RunRecord record;
  FileLock lock;                               // held until the program ends
  std::vector<std::string> devices;            // one per slot
  std::vector<std::string> environment_names;  // what the agent's environment needs, handed through workers
};

// The exit code.
int carry_out(Session session, const Options& options, World& world);

}  // namespace arena
