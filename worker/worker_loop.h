#pragma once
// Claims tasks, has each one run, and moves it on, until nothing is left to claim. Single-threaded.
#include "model/event.h"
#include "queue/task_queue.h"
#include "worker/task_run.h"

namespace arena {

// Exit codes of arena-worker; the coordinator's supervision acts on them.
enum class WorkerExit {
  all_done = 0,      // pending is empty, everything it ran is done
  some_failed = 1,   // pending is empty, something it ran failed
  usage = 2,         // configuration: a restart would not help
  stopped = 3,       // stopped, halted, or its task was given away
  cannot_go_on = 4,  // disk full, claims fail, processes that cannot be ended
  device_unfit = 5,  // its device is taken, cannot be proved or became sick: nothing more on this slot
};

class WorkerLoop {
 public:
  // Everything passed in outlives it. `end_processes` as in AttemptHooks.
  WorkerLoop(const WorkerSetup& setup, const QueueLayout& layout, FileSystem& disk, Clock& clock,
             ProcessRunner& runner, std::function<Result<int>()> end_processes);
  WorkerExit run();

 private:
  enum class Next { go_on, leave_stopped, leave_broken };
  Next execute(const Claim& claim);
  Next settle(const Claim& claim, const AttemptOutcome& outcome);
  Next after_failed_move(const Claim& claim, const Error& error);
  Status report_phase(const TaskDescriptor& descriptor, AttemptPhase phase, const fs::path& log);
  Status record(Event event);
  bool was_empty_before();
  void back_off();
  void halt_run(const std::string& cause, const std::string& message);

  const WorkerSetup& setup_;
  const QueueLayout& layout_;
  FileSystem& disk_;
  Clock& clock_;
  ProcessRunner& runner_;
  std::function<Result<int>()> end_processes_;
  TaskQueue queue_;
  bool some_failed_ = false;
  int overloads_in_a_row_ = 0;
};

}  // namespace arena
