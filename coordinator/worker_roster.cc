#include "coordinator/worker_roster.h"

#include <poll.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <csignal>

#include "os/file_lock.h"

namespace arena {

namespace {

constexpr std::chrono::milliseconds kKillWait{10000};  // a killed process that stays is in the kernel's hands
constexpr int kLockTries = 50;

// Waits until all are gone; false when the time is over first.
bool wait_for_exit(const std::vector<const LaunchedProcess*>& processes, std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  for (const LaunchedProcess* process : processes) {
    for (;;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd watched{process->pidfd(), POLLIN, 0};
      const int ready = ::poll(&watched, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
      if (ready > 0) break;
      if (ready == 0 || errno != EINTR) return false;
    }
  }
  return true;
}

std::optional<WorkerId> id_of_file(const std::string& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return std::nullopt;
  return parse_worker_id(std::string_view(name).substr(0, name.size() - suffix.size()));
}

Result<OpenWorker> look_at(FileSystem& disk, const QueueLayout& layout, const WorkerId& id) {
  OpenWorker worker{id, std::nullopt, std::nullopt, ""};
  const fs::path file = layout.worker_record(format_worker_id(id));
  const auto text = disk.read(file);
  if (!text) {
    if (text.error().code == ErrorCode::not_found) return worker;
    return fail(text.error());
  }
  const auto record = read_worker_record(*text, file.string());
  if (!record) return worker;
  worker.record = *record;
  const ProcessIdentity identity{record->host, record->boot_id, static_cast<pid_t>(record->pid),
                                 record->start_ticks};
  auto process = open_process(identity);
  if (process) {
    worker.process = std::move(*process);
  } else if (process.error().code == ErrorCode::unsupported) {
    worker.elsewhere = record->host;
  } else {
    return fail(process.error());
  }
  return worker;
}

}  // namespace

Result<std::vector<OpenWorker>> list_open_workers(FileSystem& disk, const QueueLayout& layout) {
  ARENA_ASSIGN(const std::vector<std::string> names, disk.list(layout.workers_directory()));
  std::vector<OpenWorker> workers;
  for (const std::string& name : names) {
    const auto id = id_of_file(name, ".lock");
    if (!id) continue;
    ARENA_ASSIGN(OpenWorker worker, look_at(disk, layout, *id));
    workers.push_back(std::move(worker));
  }
  std::sort(workers.begin(), workers.end(), [](const OpenWorker& a, const OpenWorker& b) {
    return a.id.slot != b.id.slot ? a.id.slot < b.id.slot : a.id.incarnation < b.id.incarnation;
  });
  return workers;
}

Result<std::map<std::int64_t, std::int64_t>> used_incarnations(FileSystem& disk, const QueueLayout& layout,
                                                               const QueueSnapshot& snapshot) {
  std::map<std::int64_t, std::int64_t> used;
  const auto note = [&used](const std::optional<WorkerId>& id) {
    if (id) used[id->slot] = std::max(used[id->slot], id->incarnation);
  };
  ARENA_ASSIGN(const std::vector<std::string> names, disk.list(layout.workers_directory()));
  for (const std::string& name : names) {
    for (const std::string_view suffix : {".lock", ".yaml", ".log", ".halt"}) note(id_of_file(name, suffix));
  }
  for (const auto& [state, entries] : snapshot.entries) {
    for (const EntryName& entry : entries) note(parse_worker_id(entry.worker_id));
  }
  return used;
}

Status end_processes(const std::vector<const LaunchedProcess*>& processes, std::chrono::milliseconds grace) {
  // A signal that fails means that the process is gone already; the wait below finds out.
  for (const LaunchedProcess* process : processes) static_cast<void>(process->signal(SIGTERM));
  if (wait_for_exit(processes, grace)) return {};
  for (const LaunchedProcess* process : processes) static_cast<void>(process->signal(SIGKILL));
  if (wait_for_exit(processes, kKillWait)) return {};
  std::string pids;
  for (const LaunchedProcess* process : processes) {
    if (!wait_for_exit({process}, std::chrono::milliseconds{0})) pids += fmt::format(" {}", process->pid());
  }
  return fail(ErrorCode::timed_out, fmt::format("cannot end process{}: not even SIGKILL helped within {} s",
                                                pids, kKillWait.count() / 1000));
}

Result<int> sweep_worker(const std::string& run_id, const std::string& worker_id) {
  return kill_marked_processes("ARENA_WORKER", run_id + "/" + worker_id);
}

Status retire_worker(FileSystem& disk, const QueueLayout& layout, const std::string& worker_id) {
  for (const fs::path& file : {layout.worker_halt(worker_id), layout.worker_lock(worker_id)}) {
    Status removed = disk.remove(file);
    if (!removed && removed.error().code != ErrorCode::not_found) return removed;
  }
  return {};
}

Status retire_unknown_worker(FileSystem& disk, const QueueLayout& layout, const std::string& run_id,
                             const std::string& worker_id) {
  for (int attempt = 0; attempt < kLockTries; ++attempt) {
    ARENA_TRY(sweep_worker(run_id, worker_id));
    const auto lock = FileLock::try_acquire_existing(layout.worker_lock(worker_id));
    // Removed while it is held: a worker that comes later finds no file, one that waits for the lock finds it
    // unlinked.
    if (lock || lock.error().code == ErrorCode::not_found) return retire_worker(disk, layout, worker_id);
    if (lock.error().code != ErrorCode::busy) return fail(lock.error());
    ::poll(nullptr, 0, 100);  // its flock goes with the last process of its PID namespace
  }
  return fail(ErrorCode::busy,
              fmt::format("cannot end worker {}: its lock '{}' stays held, and no process carries its mark",
                          worker_id, layout.worker_lock(worker_id).string()));
}

}  // namespace arena
