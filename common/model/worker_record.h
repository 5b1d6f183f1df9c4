#pragma once
// .parallel/workers/<id>.yaml: who a worker is, written by itself before its first claim, read by a
// coordinator that adopts it.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace arena {

inline constexpr int kWorkerProtocolVersion = 1;

struct WorkerRecord {
  std::string worker_id;  // slot.n, e.g. 0.1
  int protocol_version = kWorkerProtocolVersion;
  std::string run_id;
  std::string launcher;  // local, docker, podman, slurm
  std::string host;
  std::string boot_id;
  std::int64_t pid = 0;  // as the host sees it
  std::uint64_t start_ticks = 0;
  std::string container;   // name, empty if none
  std::string device;      // "cpu slot 0", or a GPU's PCI address
  std::string reap_mode;   // pid_namespace | subreaper
  std::string started_at;  // UTC
  std::string version;     // of arena
};

std::string write_worker_record(const WorkerRecord& record);  // sealed
Result<WorkerRecord> read_worker_record(std::string_view text, const std::string& name);

}  // namespace arena
