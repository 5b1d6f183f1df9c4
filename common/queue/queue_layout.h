#pragma once
// Every file name of a run directory, and its inverse. Nobody else builds or takes apart such a name.
//
//   run.yaml, run.<n>.yaml
//   .parallel.new/                        a queue being built
//   .parallel/coordinator.lock, halt.yaml
//   .parallel/pending/NNNNNN_<slug>.yaml
//   .parallel/{running,done,failed}/worker_<id>__NNNNNN_<slug>.yaml
//       done/ and failed/ also without the prefix: no worker of this run ended it
//   .parallel/{pending,running,done,failed}/<entry>.tmp.<pid>.<n>       being written; no entry
//   .parallel/corrupt/<entry>[.<n>], and <that>.reason
//   .parallel/workers/<id>.yaml, <id>.lock, <id>.halt, <id>.log
//   .parallel/events/<writer>.jsonl
//   <slug>_<timestamp>/task_result.yaml
//   .attempts/<slug>/<n>/, .attempts/<slug>/candidate/
//   agent_costs/<slug>.yaml
//   reports/
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/path.h"

namespace arena {

enum class QueueState { pending, running, done, failed };
inline constexpr QueueState kQueueStates[] = {QueueState::pending, QueueState::running, QueueState::done,
                                              QueueState::failed};
std::string_view name_of(QueueState state);

// [^A-Za-z0-9._-]+ -> '_', '_' stripped at both ends, "task" if nothing is left: v0.2's rule for descriptor
// names.
std::string slug_of(std::string_view task_name);
// '/' -> '_': v0.2's rule for workspace names.
std::string workspace_slug_of(std::string_view task_name);

struct EntryName {        // a file in one of the four state directories
  std::string worker_id;  // empty: no prefix
  std::int64_t index = 0;
  std::string slug;
  bool operator==(const EntryName&) const = default;
};
std::string format_entry_name(const EntryName& entry);
std::optional<EntryName> parse_entry_name(std::string_view name);  // nothing for temporary and foreign names
// The entry that a temporary file <entry>.tmp.<pid>.<n> was meant for; nothing for any other name.
std::optional<EntryName> parse_temporary_entry_name(std::string_view name);

struct CorruptName {  // an entry set aside in corrupt/
  EntryName entry;
  std::int64_t number = 1;  // the n-th file of that name; 1 has no suffix
  bool operator==(const CorruptName&) const = default;
};
std::string format_corrupt_name(const CorruptName& name);
std::optional<CorruptName> parse_corrupt_name(
    std::string_view name);  // nothing for the reasons and foreign names

struct WorkerId {  // slot.n: unique per worker incarnation, never reused
  std::int64_t slot = 0;
  std::int64_t incarnation = 0;
  bool operator==(const WorkerId&) const = default;
};
std::string format_worker_id(const WorkerId& id);
std::optional<WorkerId> parse_worker_id(std::string_view text);

// Timestamp (YYYYmmdd_HHMMSS) of a run directory's name run_YYYYmmdd_HHMMSS[_suffix]; nothing if it is none.
std::optional<std::string> run_timestamp_of(std::string_view run_name);
bool is_valid_run_suffix(std::string_view suffix);  // ^[A-Za-z0-9._-]+$

// A path is only computed, nothing is looked up. Whoever takes the directory from a user checks
// run_timestamp_of first: without a timestamp in the run's name there are no workspace names, and asking for
// one is a bug.
class QueueLayout {
 public:
  explicit QueueLayout(fs::path run_directory);  // absolute
  const fs::path& run_directory() const { return run_directory_; }
  std::string run_name() const;
  fs::path run_record(int number = 1) const;  // 1: run.yaml, n: run.<n>.yaml
  fs::path parallel() const;
  fs::path parallel_being_built() const;
  fs::path coordinator_lock() const;
  fs::path halt_file() const;
  fs::path state_directory(QueueState state) const;
  fs::path entry(QueueState state, const EntryName& name) const;
  fs::path corrupt_directory() const;
  fs::path corrupt_entry(const CorruptName& name) const;
  fs::path corrupt_reason(const CorruptName& name) const;
  fs::path workers_directory() const;
  fs::path worker_record(const std::string& id) const;
  fs::path worker_lock(const std::string& id) const;
  fs::path worker_halt(const std::string& id) const;
  fs::path worker_log(const std::string& id) const;  // stdout and stderr of the program itself
  fs::path events_directory() const;
  fs::path events(const std::string& writer) const;
  fs::path workspace(std::string_view task_name) const;  // <slug>_<timestamp of the run>
  fs::path task_result(std::string_view task_name) const;
  fs::path attempts(std::string_view task_name) const;  // .attempts/<slug>
  fs::path attempt(std::string_view task_name, std::int64_t number) const;
  fs::path candidate(std::string_view task_name) const;   // .attempts/<slug>/candidate
  fs::path agent_cost(std::string_view task_name) const;  // agent_costs/<slug>.yaml
  fs::path reports() const;

 private:
  fs::path run_directory_;
};

}  // namespace arena
