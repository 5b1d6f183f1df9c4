#pragma once
// Child processes: started without a shell, own session, signal mask and dispositions reset, only descriptors
// 0-2 inherited, stdin from a file or /dev/null, output pumped into a capped file, a time limit, then TERM ->
// grace -> KILL to the whole tree, reaped. Waiting is pidfd + waitid in a Boost.Asio loop; SIGCHLD only hints
// that an orphan waits to be reaped. How and why: docs/processes.md.
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace arena {

using EnvironmentMap = std::map<std::string, std::string>;

enum class OutputStream { out, error };

// What a tap makes of a piece of output.
struct Tapped {
  std::string keep;  // goes to the file instead of the piece
  bool finished =
      false;  // the child has said its last word: from now on it has ProcessSpec::final_grace to exit
};
// Sees output as it comes, in pieces that end anywhere; at the end of a stream once more, with nothing.
using OutputTap = std::function<Tapped(OutputStream, std::string_view bytes)>;

// One step of ending a child that does not end by itself. SIGINT goes to its process group, as from a
// terminal; anything else to all that came from it. After the last step comes KILL.
struct StopStep {
  int signal;
  std::chrono::milliseconds wait;
};

struct ProcessSpec {
  std::vector<std::string> argv;  // argv[0] with a '/' is used as it is, else searched in environment["PATH"]
  EnvironmentMap environment;     // the whole environment of the child: nothing is inherited
  fs::path working_directory;
  fs::path stdin_file;   // empty: /dev/null
  fs::path output_file;  // stdout and stderr together, in order; created or replaced; empty: discarded
  std::uint64_t output_limit =
      16 << 20;  // bytes kept: the first half and the last half, with a line between them
  std::optional<std::chrono::milliseconds> time_limit;
  std::chrono::milliseconds grace{5000};  // between TERM and KILL

  // For programs that are listened to while they run.
  fs::path error_file;  // stderr apart from stdout, with the same limit; empty: together
  OutputTap tap = nullptr;
  std::optional<std::chrono::milliseconds> idle_limit = std::nullopt;   // without any output
  std::optional<std::chrono::milliseconds> final_grace = std::nullopt;  // see Tapped::finished
  std::vector<StopStep> stop_steps = {};                                // empty: TERM, then `grace`
};

struct Exited {
  int code;
};
struct Signaled {
  int signal;
  bool core_dumped;
};
struct TimedOut {
  std::chrono::milliseconds limit;
  enum class Timer { total, idle, final_grace } timer = Timer::total;
};
struct Stopped {};  // ended because the caller asked to stop
// How a child ended. A signal, a time limit and a stop are never folded into an exit code.
using ProcessEnd = std::variant<Exited, Signaled, TimedOut, Stopped>;

struct ProcessOutcome {
  ProcessEnd end;
  std::chrono::milliseconds duration{0};
  std::uint64_t output_bytes = 0;  // written by the child, kept or not
  bool left_processes = false;     // descendants were alive at its end and had to be killed
  std::optional<Error> output_error =
      std::nullopt;  // output_file is not whole (disk full), the child ran nevertheless
  bool succeeded() const { return std::holds_alternative<Exited>(end) && std::get<Exited>(end).code == 0; }
};
// "exit code 3", "killed by SIGSEGV (core dumped)", "timed out after 60 s", "silent for 60 s", "stopped".
std::string describe(const ProcessEnd& end);

// Runs children one at a time and leaves none of their descendants alive. Children that the process had
// before (launch()) are left alone. Not thread-safe.
class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  // Returns when the child and everything it started is gone. Errors: the program could not be started
  // (not_found, denied), or its processes could not be ended (io). A request to stop ends the child at once
  // (TERM, grace, KILL).
  virtual Result<ProcessOutcome> run(const ProcessSpec& spec) = 0;
  // True once the process was asked to stop (SIGTERM, SIGINT); run() then answers Stopped without starting
  // anything.
  virtual bool stop_requested() = 0;
};

// How the calling process keeps track of descendants: as PID 1 of its namespace, or as child subreaper.
enum class ReapMode { pid_namespace, subreaper };

// The real runner. Construct one per process, early: it blocks SIGTERM and SIGINT into its loop and becomes
// child subreaper unless it is PID 1. As PID 1 it reaps whatever is reparented to it.
class RealProcessRunner final : public ProcessRunner {
 public:
  RealProcessRunner();
  ~RealProcessRunner() override;
  Result<ProcessOutcome> run(const ProcessSpec& spec) override;
  bool stop_requested() override;
  ReapMode reap_mode() const;
  // Kills and reaps every descendant that is still alive; the number of processes killed. An error if any
  // could not be ended.
  Result<int> end_descendants();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// --- Long-lived children (workers), started and then watched through their pidfd ---

struct LaunchSpec {
  std::vector<std::string> argv;
  EnvironmentMap environment;
  fs::path working_directory;
  fs::path output_file;     // stdout and stderr, appended, not capped: the caller's own program
  bool new_session = true;  // own session: no terminal, no signals from ours
  bool new_pid_namespace =
      false;  // PID 1 of its own namespace where the system allows it, else plain (see pid_namespace)
};

// Owns the pidfd; destroying it neither kills nor waits.
class LaunchedProcess {
 public:
  LaunchedProcess(pid_t pid, int pidfd, bool pid_namespace)
      : pid_(pid), pidfd_(pidfd), pid_namespace_(pid_namespace) {}
  LaunchedProcess(LaunchedProcess&& other) noexcept;
  LaunchedProcess& operator=(LaunchedProcess&& other) noexcept;
  ~LaunchedProcess();
  pid_t pid() const { return pid_; }
  int pidfd() const {
    return pidfd_;
  }  // readable when the process has exited (as PID 1: with everything in its namespace)
  bool pid_namespace() const { return pid_namespace_; }
  Status signal(int signal_number) const;  // through the pidfd: never another process that got the same pid
  // After the pidfd is readable: how it ended, and the zombie is reaped. Nothing if it is not our child
  // (adopted).
  std::optional<ProcessEnd> reap() const;

 private:
  pid_t pid_;
  int pidfd_;
  bool pid_namespace_;
};

Result<LaunchedProcess> launch(const LaunchSpec& spec);

// --- Who is that process? ---

// Names one process for ever: a pid alone is reused.
struct ProcessIdentity {
  std::string host;
  std::string boot_id;
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // field 22 of /proc/<pid>/stat
};
// Of the calling process, with the pid as the mounted /proc shows it (the host's, also from a new PID
// namespace).
Result<ProcessIdentity> current_process_identity();
// The running process of that identity as a handle, or nothing if it has exited (or the machine was restarted
// since). unsupported if it belongs to another host.
Result<std::optional<LaunchedProcess>> open_process(const ProcessIdentity& identity);
// Kills (SIGKILL) every process whose environment holds NAME=VALUE, repeatedly until none is left; the number
// killed.
Result<int> kill_marked_processes(const std::string& name, const std::string& value);

// Full path of `program` searched in PATH, empty if not found.
fs::path find_program(const std::string& program, const std::string& path_variable);

}  // namespace arena
