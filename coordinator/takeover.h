#pragma once
// What an earlier coordinator left: live workers are adopted, drained or ended, dead ones swept, and only
// then their entries go back. The caller holds coordinator.lock. Interrupted at any point, the next take-over
// does the same again.
#include <string>
#include <vector>

#include "coordinator/supervisor.h"
#include "os/clock.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"
#include "queue/recovery.h"

namespace arena {

struct TakeoverOrder {
  std::string run_id;
  RecoveryLimits limits;
  std::int64_t slots = 0;  // workers of slots below are adopted, others finish their task and leave
  bool end_all = false;    // stop --now: none is adopted
};

struct Takeover {
  std::vector<AdoptedWorker> adopted;
  std::vector<std::string> news;  // what was done, for people
  std::vector<std::string> warnings;
};

// refused when a worker of another host may still be at work.
Result<Takeover> take_over(FileSystem& disk, Clock& clock, const QueueLayout& layout,
                           const TakeoverOrder& order);

// Pure: what becomes of a live worker.
enum class WorkerFate { adopt, drain, end };
WorkerFate fate_of(const WorkerRecord& record, const WorkerId& id, const TakeoverOrder& order,
                   bool slot_is_taken);

}  // namespace arena
