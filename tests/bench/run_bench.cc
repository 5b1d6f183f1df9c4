// What whole programs cost: planning and resuming 10,000 tasks, the runner's own share of a short task, an
// idle run, and memory over many tasks. run_bench [TASKS=10000]; the current directory must be empty, the
// programs lie beside this one.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/sealed_text.h"
#include "base/text.h"
#include "model/run_record.h"
#include "model/stats.h"
#include "model/task_descriptor.h"
#include "model/task_result.h"
#include "model/worker_record.h"
#include "os/file_system.h"
#include "queue/queue_layout.h"
#include "queue/queue_snapshot.h"

namespace arena {
namespace {

constexpr int kCommands = 5;  // of a task: baseline: compile, performance; candidate: those and correctness

using Milliseconds = std::chrono::duration<double, std::milli>;

RealFileSystem disk;
fs::path programs;

template <class T>
T must(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "run_bench: {}\n", result.error().message);
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// As cheap as starting a shell can be: no page of ours is copied, and we wait until the child has called
// exec.
pid_t start_shell(const std::string& shell_line) {
  const std::array<const char*, 4> argv{"sh", "-c", shell_line.c_str(), nullptr};
  pid_t child = 0;
  if (::posix_spawn(&child, "/bin/sh", nullptr, nullptr, const_cast<char* const*>(argv.data()), environ) != 0)
    std::exit(1);
  return child;
}

pid_t start(const std::string& command) { return start_shell("exec " + command + " >>out 2>&1"); }

int end_of(pid_t child) {
  int status = 0;
  if (::waitpid(child, &status, 0) != child) std::exit(1);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

double milliseconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return Milliseconds(std::chrono::steady_clock::now() - begin).count();
}

double median_of(int rounds, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) times.push_back(milliseconds(work));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void expect(int status, int expected, const char* what) {
  if (status == expected) return;
  fmt::print(stderr, "run_bench: {} ended with {}; see ./out\n", what, status);
  std::exit(1);
}

void make_tasks(const fs::path& directory, int count, const std::string& performance) {
  for (int i = 1; i <= count; ++i) {
    const fs::path task = directory / fmt::format("cpp2cpp/t{:05}", i);
    must(make_directories(disk, task / "src"));
    must(disk.create(task / "src/kernel.cc", "int kernel();\n", Sync::no));
    must(disk.create(task / "README.md", "# a short task\n", Sync::no));
    must(disk.create(
        task / "config.yaml",
        "task_type: cpp2cpp\nsource_file_path:\n  - src/kernel.cc\ntarget_kernel_functions:\n  - kernel\n"
        "compile_command:\n  - \"true\"\ncorrectness_command:\n  - \"true\"\n"
        "performance_command:\n  - \"" +
            performance + "\"\n",
        Sync::no));
  }
}

std::string coordinator(const std::string& rest) { return (programs / "arena-coord").string() + " " + rest; }

// The one run below `root`, once its queue is there.
fs::path started_run(const fs::path& root) {
  const fs::path workspaces = root / "workspace_CPU_nop";
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
    const auto names = disk.list(workspaces);
    if (!names || names->empty()) continue;
    const fs::path run = fs::absolute(workspaces / names->front());
    if (must(disk.exists(QueueLayout(run).parallel()))) return run;
  }
}

// Gives every task that is still pending the result it might have had, as a worker leaves it.
void complete_all(const fs::path& run) {
  const QueueLayout layout(run);
  auto snapshot = must(take_snapshot(disk, layout));
  for (const EntryName& name : snapshot.entries[QueueState::pending]) {
    const fs::path pending = layout.entry(QueueState::pending, name);
    auto descriptor = must(read_descriptor(must(disk.read(pending)), pending.string()));
    TaskResult result;
    result.task_name = descriptor.task_name;
    result.pass_compilation = result.pass_correctness = true;
    result.base_execution_time = 2;
    result.best_optimized_execution_time = 1;
    result.speedup_ratio = 2;
    result.score = 320;
    result.score_formula = "points";
    result.run_id = descriptor.run_id;
    result.attempt = descriptor.attempt = 1;
    result.worker_id = descriptor.worker_id = descriptor.claimed_by = "0.99";
    result.task_digest = descriptor.task_digest;
    const std::string text = write_task_result(result);
    must(make_directories(disk, layout.workspace(descriptor.task_name)));
    must(disk.create(layout.task_result(descriptor.task_name), text, Sync::no));
    descriptor.status = DescriptorStatus::done;
    descriptor.cause = CauseClass::completed;
    descriptor.result_digest = stated_seal(text);
    EntryName done = name;
    done.worker_id = "0.99";
    must(disk.create(layout.entry(QueueState::done, done), write_descriptor(descriptor), Sync::no));
    must(disk.remove(pending));
  }
}

void plan_and_resume(int tasks) {
  make_tasks("many", tasks, "echo 'Performance: 1.5 ms'");
  const std::string plan =
      coordinator("--config config.yaml --tasks-dir many --workspace-root many_runs --cpu-slots 1");
  const double planning = median_of(5, [&] { expect(end_of(start(plan + " --dry-run")), 0, "the dry run"); });
  fmt::print("{:<52}{:>12.3f} s\n", fmt::format("planning {} tasks (whole process)", tasks), planning / 1000);

  const pid_t running = start(plan);
  const fs::path run = started_run("many_runs");
  ::kill(running, SIGTERM);  // drains: the task under way finishes
  end_of(running);
  complete_all(run);
  const std::string resume = coordinator("--resume-run " + run.string() + " -q");
  const double first = milliseconds([&] { expect(end_of(start(resume)), 0, "the resume"); });
  const double resuming = median_of(5, [&] { expect(end_of(start(resume)), 0, "the resume"); });
  fmt::print("{:<52}{:>12.3f} s\n", fmt::format("resuming {} completed tasks, reports made anew", tasks),
             first / 1000);
  fmt::print("{:<52}{:>12.3f} s\n", fmt::format("resuming {} completed tasks again", tasks), resuming / 1000);
}

// Runs that many tasks of five commands that do nothing with one worker.
double run_short_tasks(const std::string& name, int tasks) {
  make_tasks(name, tasks, "echo 'Performance: 1.5 ms'");
  return milliseconds([&] {
    expect(end_of(start(coordinator(fmt::format(
               "--config config.yaml --tasks-dir {0} --workspace-root {0}_runs --cpu-slots 1 -q", name)))),
           0, "the run of short tasks");
  });
}

// Five starts of a shell for each of `tasks`, one after the other, as bare as can be.
double run_bare_commands(int tasks) {
  return milliseconds([&] {
    for (int i = 0; i < kCommands * tasks; ++i) end_of(start_shell("echo 'Performance: 1.5 ms' > /dev/null"));
  });
}

// The runner's share of a task: a long run and a short one differ by their tasks only, and the bare commands
// are timed in between, so that all three see the same machine.
void overhead() {
  constexpr int kRounds = 5;
  constexpr int kFew = 20;
  constexpr int kMany = 220;
  std::vector<double> tasks;
  std::vector<double> commands;
  std::vector<double> shares;
  for (int round = 0; round < kRounds; ++round) {
    const double few = run_short_tasks(fmt::format("few{}", round), kFew);
    const double bare_before = run_bare_commands(kMany - kFew) / (kMany - kFew);
    const double many = run_short_tasks(fmt::format("many{}", round), kMany);
    const double bare_after = run_bare_commands(kMany - kFew) / (kMany - kFew);
    tasks.push_back((many - few) / (kMany - kFew));
    commands.push_back((bare_before + bare_after) / 2);
    shares.push_back(tasks.back() - commands.back());
  }
  const double sync =
      median_of(21, [] { must(publish(disk, "synced.tmp_target", "text\n", Sync::yes, Replace::yes)); });
  fmt::print("{:<52}{:>12.2f} ms\n", "a task of five commands that do nothing", median(tasks).value());
  fmt::print("{:<52}{:>12.2f} ms\n", "its five commands started bare", median(commands).value());
  fmt::print("{:<52}{:>12.2f} ms ({:.2f} to {:.2f})\n", "the runner's share, syncs included",
             median(shares).value(), *std::min_element(shares.begin(), shares.end()),
             *std::max_element(shares.begin(), shares.end()));
  fmt::print("{:<52}{:>12.2f} ms\n", "one file published with file and directory synced", sync);
}

// The one worker of a run; 0 while there is none.
pid_t worker_of(const QueueLayout& layout) {
  const auto text = disk.read(layout.worker_record("0.1"));
  const auto record = text ? read_worker_record(*text, "worker") : Result<WorkerRecord>(fail(text.error()));
  return record ? static_cast<pid_t>(record->pid) : 0;
}

// Resident memory in KiB, 0 once the process has ended.
std::int64_t resident(pid_t process) {
  const auto text = disk.read(fmt::format("/proc/{}/statm", process));
  if (!text) return 0;
  const std::vector<std::string> fields = split(*text, " ");
  return fields.size() < 2 ? 0 : parse_integer(fields[1]).value_or(0) * (::sysconf(_SC_PAGESIZE) / 1024);
}

// Does memory grow with the tasks that were worked off? The plan has its size from the start.
void memory() {
  constexpr int kTasks = 1500;
  make_tasks("memory", kTasks, "echo 'Performance: 1.5 ms'");
  const pid_t running = start(
      coordinator("--config config.yaml --tasks-dir memory --workspace-root memory_runs --cpu-slots 1 -q"));
  const fs::path run = started_run("memory_runs");
  const QueueLayout layout(run);
  std::size_t seen = 0;
  for (const int mark : {100, kTasks - 100}) {
    while (seen < static_cast<std::size_t>(mark)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      seen = must(disk.list(layout.state_directory(QueueState::done))).size();
    }
    fmt::print("{:<52}{:>12.1f} MiB, worker {:.1f} MiB\n",
               fmt::format("memory of the coordinator, {} of {} tasks done", mark, kTasks),
               static_cast<double>(resident(running)) / 1024,
               static_cast<double>(resident(worker_of(layout))) / 1024);
  }
  expect(end_of(running), 0, "the run for memory");
}

// Processor time used so far, in ms.
double processor_time(pid_t process) {
  const auto text = disk.read(fmt::format("/proc/{}/schedstat", process));
  return text ? static_cast<double>(parse_integer(split(*text, " ")[0]).value_or(0)) / 1e6 : 0;
}

// What coordinator and worker use while a command runs that takes its time.
void idle() {
  make_tasks("idle", 1, "sleep 4; echo 'Performance: 1.5 ms'");
  const pid_t running =
      start(coordinator("--config config.yaml --tasks-dir idle --workspace-root idle_runs --cpu-slots 1 -q"));
  const QueueLayout layout(started_run("idle_runs"));
  while (worker_of(layout) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const pid_t worker = worker_of(layout);
  const double before = processor_time(running) + processor_time(worker);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  fmt::print("{:<52}{:>12.2f} ms\n", "processor time of both in 2 s of waiting",
             processor_time(running) + processor_time(worker) - before);
  expect(end_of(running), 0, "the idle run");
}

}  // namespace
}  // namespace arena

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using namespace arena;
  programs = fs::read_symlink("/proc/self/exe").parent_path();
  const auto tasks = argc > 1 ? parse_integer(argv[1]) : 10000;
  if (!tasks || *tasks < 1) {
    fmt::print(stderr, "usage: run_bench [TASKS]\n");
    return 2;
  }
  must(
      disk.create("config.yaml", "agent:\n  template: nop\ntasks: [all]\ntarget_gpu_model: CPU\n", Sync::no));
  plan_and_resume(static_cast<int>(*tasks));
  overhead();
  memory();
  idle();
}
