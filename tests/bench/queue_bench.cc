// What the queue costs, as ratios to the bare system calls that the same durability needs, measured in the
// same process. queue_bench [DIRECTORY...]: where to measure; default: the current directory and /dev/shm.
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "os/file_system.h"
#include "queue/queue_builder.h"
#include "queue/queue_snapshot.h"
#include "queue/recovery.h"
#include "queue/task_queue.h"

namespace arena {
namespace {

constexpr int kRounds = 5;

template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "queue_bench: {}\n", result.error().message);
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void must_call(long answer, const char* call) {
  if (answer >= 0) return;
  std::perror(call);
  std::exit(1);
}

// Of the wall where something waits for the disk, else of all processors: that is not disturbed by what else
// runs here.
enum class Time { wall, processor };

double now_us(Time time) {
  timespec now{};
  must_call(::clock_gettime(time == Time::wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &now),
            "clock_gettime");
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double microseconds(Time time, const std::function<void()>& work) {
  const double begin = now_us(time);
  work();
  return now_us(time) - begin;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The same code without its syncs: what is left is what the queue itself costs.
class UnsyncedFileSystem final : public FileSystem {
 public:
  Result<std::string> read(const fs::path& file) override { return disk_.read(file); }
  Status create(const fs::path& file, std::string_view content, Sync) override {
    return disk_.create(file, content, Sync::no);
  }
  Status append(const fs::path& file, std::string_view content, Sync) override {
    return disk_.append(file, content, Sync::no);
  }
  Status rename(const fs::path& from, const fs::path& to, Replace replace) override {
    return disk_.rename(from, to, replace);
  }
  Status sync_directory(const fs::path&) override { return {}; }
  Status sync_file_system(const fs::path&) override { return {}; }
  Result<std::vector<std::string>> list(const fs::path& directory) override { return disk_.list(directory); }
  Status remove(const fs::path& file) override { return disk_.remove(file); }
  Status make_directory(const fs::path& directory) override { return disk_.make_directory(directory); }
  Result<bool> exists(const fs::path& path) override { return disk_.exists(path); }

 private:
  RealFileSystem disk_{Renames::exact};
};

TaskDescriptor task(std::int64_t index, std::int64_t total) {
  TaskDescriptor descriptor;
  descriptor.index = index;
  descriptor.total_tasks = total;
  descriptor.task_name = fmt::format("cpp2cpp/kernels/task_{}", index);
  descriptor.task_config_dir = fmt::format("tasks/cpp2cpp/kernels/task_{}/config.yaml", index);
  descriptor.workspace_path =
      fmt::format("/w/run_20261201_101500/cpp2cpp_kernels_task_{}_20261201_101500", index);
  descriptor.run_id = "00000000000000aa";
  descriptor.task_digest = std::string(64, 'a');
  return descriptor;
}

EntryName entry_of(const TaskDescriptor& descriptor) {
  return {"", descriptor.index, slug_of(descriptor.task_name)};
}

// A directory that holds one run, removed at the end. Never reused: an ext4 without journal creates slowly
// for a while after many deletes.
class RunDirectory {
 public:
  explicit RunDirectory(const fs::path& parent)
      : path_(unique(parent)), layout_(path_ / "run_20261201_101500") {
    RealFileSystem disk;
    must(make_directories(disk, layout_.run_directory()));
  }
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  ~RunDirectory() {
    boost::system::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const QueueLayout& layout() const { return layout_; }
  std::string file(QueueState state, const EntryName& name) const {
    return layout_.entry(state, name).string();
  }

 private:
  static fs::path unique(const fs::path& parent) {
    static int number = 0;
    return parent / fmt::format("queue_bench.{}.{}", ::getpid(), number++);
  }
  fs::path path_;
  QueueLayout layout_;
};

void build(const RunDirectory& run, std::int64_t tasks) {
  RealFileSystem disk;
  std::vector<TaskDescriptor> descriptors;
  for (std::int64_t index = 1; index <= tasks; ++index) descriptors.push_back(task(index, tasks));
  must(build_queue(disk, run.layout(), descriptors));
}

// --- claim + finish of one task ---

void bare_write(const std::string& file, const std::string& content, bool sync) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  must_call(descriptor, "open");
  must_call(::write(descriptor, content.data(), content.size()), "write");
  if (sync) must_call(::fsync(descriptor), "fsync");
  must_call(::close(descriptor), "close");
}

void bare_sync(const std::string& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  must_call(descriptor, "open");
  must_call(::fsync(descriptor), "fsync");
  must_call(::close(descriptor), "close");
}

void bare_rename(const std::string& from, const std::string& to, unsigned flags) {
  must_call(::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags), "renameat2");
}

// The calls themselves, all names and contents made before the clock runs.
double bare_claim_and_finish(const fs::path& parent, std::int64_t tasks, bool sync) {
  const RunDirectory run(parent);
  build(run, tasks);
  struct Names {
    std::string pending, running, temporary, done, content;
  };
  std::vector<Names> all;
  for (std::int64_t index = 1; index <= tasks; ++index) {
    const TaskDescriptor descriptor = task(index, tasks);
    EntryName name = entry_of(descriptor);
    Names names;
    names.pending = run.file(QueueState::pending, name);
    name.worker_id = "0.1";
    names.running = run.file(QueueState::running, name);
    names.temporary = names.running + ".tmp.1.1";
    names.done = run.file(QueueState::done, name);
    names.content = write_descriptor(descriptor);
    all.push_back(std::move(names));
  }
  const std::string running = run.layout().state_directory(QueueState::running).string();
  const std::string done = run.layout().state_directory(QueueState::done).string();
  constexpr unsigned kNoReplace = 1;
  constexpr unsigned kExchange = 2;
  std::string content(4096, '\0');
  const double total = microseconds(sync ? Time::wall : Time::processor, [&] {
    for (const Names& names : all) {
      bare_rename(names.pending, names.running, kNoReplace);
      const int descriptor = ::open(names.running.c_str(), O_RDONLY | O_CLOEXEC);
      must_call(::read(descriptor, content.data(), content.size()), "read");
      must_call(::close(descriptor), "close");
      bare_write(names.temporary, names.content, false);
      bare_rename(names.temporary, names.running, kExchange);
      must_call(::unlink(names.temporary.c_str()), "unlink");
      bare_write(names.temporary, names.content, sync);
      bare_rename(names.temporary, names.running, kExchange);
      must_call(::unlink(names.temporary.c_str()), "unlink");
      bare_rename(names.running, names.done, kNoReplace);
      if (sync) bare_sync(done);
      if (sync) bare_sync(running);
    }
  });
  return total / static_cast<double>(tasks);
}

double queue_claim_and_finish(const fs::path& parent, std::int64_t tasks, bool sync) {
  const RunDirectory run(parent);
  build(run, tasks);
  RealClock clock;
  RealFileSystem synced(renames_on(parent));
  UnsyncedFileSystem unsynced;
  FileSystem& disk = sync ? static_cast<FileSystem&>(synced) : unsynced;
  TaskQueue queue(disk, clock, run.layout(), "0.1");
  const double total = microseconds(sync ? Time::wall : Time::processor, [&] {
    for (;;) {
      const auto claim = must(queue.claim());
      if (!claim) break;
      TaskDescriptor descriptor = claim->descriptor;
      descriptor.cause = CauseClass::completed;
      must(queue.finish(*claim, std::move(descriptor), QueueState::done));
    }
  });
  return total / static_cast<double>(tasks);
}

// The two are measured in turn, so that a change of the machine's mood meets both.
void measure_claim_and_finish(const fs::path& parent) {
  fmt::print("\n{:<28} {:>10} {:>10} {:>7}\n", "claim + finish, one worker", "bare us", "queue us", "ratio");
  for (const bool sync : {false, true}) {
    std::vector<double> bare;
    std::vector<double> queue;
    std::vector<double> ratio;
    const std::int64_t tasks = sync ? 300 : 2000;
    for (int round = 0; round < kRounds; ++round) {
      bare.push_back(bare_claim_and_finish(parent, tasks, sync));
      queue.push_back(queue_claim_and_finish(parent, tasks, sync));
      ratio.push_back(queue.back() / bare.back());
    }
    fmt::print("{:<28} {:>10.1f} {:>10.1f} {:>7.2f}\n",
               sync ? "with the syncs, elapsed" : "without, processor time", median(bare), median(queue),
               median(ratio));
  }
}

// --- claims, by number of entries and workers ---

// `entries` names in pending/, the first `real` of them with a descriptor behind it; a claim never opens the
// others.
void fill_pending(const RunDirectory& run, std::int64_t entries, std::int64_t real) {
  build(run, std::min(entries, real));
  RealFileSystem disk;
  for (std::int64_t index = real + 1; index <= entries; ++index) {
    must(disk.create(run.layout().entry(QueueState::pending, entry_of(task(index, entries))), "", Sync::no));
  }
}

struct ClaimTimes {
  double listing_ms = 0;  // of one worker, once
  double claim_us = 0;    // of all workers, by number of claims
};

ClaimTimes claim_with(const RunDirectory& run, int workers, std::int64_t claims_each) {
  static int incarnation = 0;
  ++incarnation;
  std::vector<double> listing(static_cast<std::size_t>(workers));
  std::vector<std::thread> threads;
  std::vector<TaskQueue> queues;
  RealFileSystem disk(renames_on(run.layout().run_directory()));
  RealClock clock;
  for (int worker = 0; worker < workers; ++worker) {
    queues.emplace_back(disk, clock, run.layout(), format_worker_id({worker, incarnation}));
  }
  // The first claim of each lists the directory.
  for (int worker = 0; worker < workers; ++worker) {
    listing[static_cast<std::size_t>(worker)] =
        microseconds(Time::processor, [&] { must(queues[static_cast<std::size_t>(worker)].claim()); });
  }
  const double total = microseconds(Time::processor, [&] {
    for (TaskQueue& queue : queues) {
      threads.emplace_back([&queue, claims_each] {
        for (std::int64_t i = 0; i < claims_each; ++i) must(queue.claim());
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  return {median(listing) / 1000, total / static_cast<double>(workers * claims_each)};
}

void measure_claims(const fs::path& parent) {
  fmt::print("\n{:<12} {:>8} {:>12} {:>10} {:>14}\n", "entries", "workers", "listing ms", "claim us",
             "to 1,000");
  std::map<int, double> reference;
  for (const std::int64_t entries : {1'000, 10'000, 100'000, 1'000'000}) {
    std::map<int, std::vector<double>> claim;
    std::map<int, std::vector<double>> listing;
    const std::vector<int> worker_counts{1, 2, 4, 8};
    const std::int64_t claims = 900;  // by all workers of one measurement
    const auto measure = [&](const RunDirectory& run, int workers) {
      const ClaimTimes times = claim_with(run, workers, claims / workers);
      claim[workers].push_back(times.claim_us);
      listing[workers].push_back(times.listing_ms);
    };
    if (entries < 100'000) {
      for (int round = 0; round < kRounds; ++round) {
        for (const int workers : worker_counts) {
          const RunDirectory run(parent);
          fill_pending(run, entries, entries);
          measure(run, workers);
        }
      }
    } else {
      const RunDirectory run(parent);
      fill_pending(run, entries, 1000 * kRounds * static_cast<std::int64_t>(worker_counts.size()));
      for (int round = 0; round < kRounds; ++round) {
        for (const int workers : worker_counts) measure(run, workers);
      }
    }
    for (const int workers : worker_counts) {
      const double time = median(claim[workers]);
      if (entries == 1'000) reference[workers] = time;
      fmt::print("{:<12} {:>8} {:>12.2f} {:>10.1f} {:>14.2f}\n", entries, workers, median(listing[workers]),
                 time, time / reference[workers]);
    }
  }
}

// --- what the coordinator does with 10,000 tasks ---

void measure_coordinator(const fs::path& parent) {
  constexpr std::int64_t kTasks = 10'000;
  RealFileSystem disk;
  RealClock clock;
  std::vector<double> building;
  std::vector<double> checking;
  std::vector<double> recovering;
  std::vector<TaskDescriptor> descriptors;
  for (std::int64_t index = 1; index <= kTasks; ++index) descriptors.push_back(task(index, kTasks));
  for (int round = 0; round < kRounds; ++round) {
    const RunDirectory run(parent);
    building.push_back(microseconds(Time::wall, [&] { must(build_queue(disk, run.layout(), descriptors)); }));
    std::vector<std::int64_t> planned;
    for (const TaskDescriptor& descriptor : descriptors) planned.push_back(descriptor.index);
    checking.push_back(microseconds(Time::wall, [&] { must(check_queue(disk, run.layout(), planned)); }));
    recovering.push_back(microseconds(Time::wall, [&] {
      must(recover(disk, clock, run.layout(), {}, "00000000000000aa",
                   [](const std::string&) { return false; }));
    }));
  }
  fmt::print("\n{:<40} {:>10}\n", "10,000 tasks", "ms");
  fmt::print("{:<40} {:>10.1f}\n", "build the queue, synced", median(building) / 1000);
  fmt::print("{:<40} {:>10.1f}\n", "check that each is in one state", median(checking) / 1000);
  fmt::print("{:<40} {:>10.1f}\n", "recover with nothing to do", median(recovering) / 1000);
}

}  // namespace
}  // namespace arena

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a line as soon as it is known, into a file too
  const bool claims_on_disk = argc == 2 && std::string(argv[1]) == "--claims-on-disk";
  if (argc > 1 && !claims_on_disk) {
    fmt::print(stderr, "usage: queue_bench [--claims-on-disk]\n");
    return 2;
  }
  for (const std::string directory : {".", "/dev/shm"}) {
    const arena::fs::path parent = arena::fs::system_complete(directory).lexically_normal();
    fmt::print("\n== in {}, median of {} rounds\n", directory == "." ? "the current directory" : directory,
               arena::kRounds);
    arena::measure_claim_and_finish(parent);
    if (directory != "." || claims_on_disk) arena::measure_claims(parent);
    arena::measure_coordinator(parent);
  }
  return 0;
}
