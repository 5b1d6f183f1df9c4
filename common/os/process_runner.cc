#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "os/descendants.h"
#include "os/output_file.h"
#include "os/process.h"
#include "os/process_table.h"
#include "os/spawn.h"

namespace arena {

namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;
using boost::system::error_code;

// What a child leaves behind gets this long to end by itself, so that the reader of a `>(tee log)` is not cut
// short.
constexpr milliseconds kSettleTime{100};
constexpr milliseconds kKillPatience{10'000};
constexpr std::size_t kPipeSize = std::size_t{1} << 20;
constexpr int kReadsPerEvent = 16;  // then the other events get their turn

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(error_from_errno(errno, "make", "pipe"));
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  ::fcntl(ends[0], F_SETPIPE_SZ, static_cast<int>(kPipeSize));  // a wish: unprivileged users have a quota
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// One run: the loop that watches one child until it and all it started are gone.
class Run {
 public:
  Run(int signals, bool& stop_requested, ReapMode mode, OutputFile output)
      : stop_requested_(stop_requested),
        descendants_(mode, Descendants::children_now()),
        output_(std::move(output)),
        exit_(io_),
        pipe_(io_),
        signals_(io_, signals),
        timer_(io_) {}
  ~Run() { signals_.release(); }  // belongs to the runner
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Result<ProcessOutcome> go(const ProcessSpec& spec) {
    ARENA_ASSIGN(Pipe pipe, make_pipe());
    const std::string input_name = spec.stdin_file.empty() ? "/dev/null" : spec.stdin_file.native();
    const Descriptor input = open_at(AT_FDCWD, input_name.c_str(), O_RDONLY | O_NOCTTY);
    if (!input) return fail(error_from_errno(errno, "open", input_name));
    const Steady::time_point start = Steady::now();
    ARENA_ASSIGN(Spawned child,
                 spawn({spec.argv, spec.environment, spec.working_directory, input.get(), pipe.write.get()}));
    pipe.write.close();
    child_ = child.pid;
    grace_ = spec.grace;
    time_limit_ = spec.time_limit;
    try {
      watch(std::move(child.pidfd), std::move(pipe.read));
    } catch (const boost::system::system_error& error) {  // no descriptors left, for one
      ARENA_TRY(descendants_.end());
      return fail(ErrorCode::io, fmt::format("cannot watch '{}': {}", spec.argv.front(), error.what()));
    }
    return conclude(start);
  }

 private:
  void watch(Descriptor pidfd, Descriptor pipe) {
    exit_.assign(pidfd.release());
    pipe_.assign(pipe.release());
    if (time_limit_) set_timer(*time_limit_);
    await_exit();
    await_output();
    await_signal();
    while (!done_) io_.run_one();
  }

  void await_exit() {
    exit_.async_wait(exit_.wait_read, [this](const error_code& error) {
      if (!error) on_exit();
    });
  }
  void await_output() {
    pipe_.async_wait(pipe_.wait_read, [this](const error_code& error) {
      if (!error && pump()) await_output();
    });
  }
  void await_signal() {
    signals_.async_wait(signals_.wait_read, [this](const error_code& error) {
      if (error) return;
      on_signal();
      await_signal();
    });
  }
  void set_timer(milliseconds from_now) {
    timer_.expires_after(from_now);
    timer_.async_wait([this](const error_code& error) {
      if (!error) on_timer();
    });
  }

  // Moves what is in the pipe into the file. False at its end: every writer is gone.
  bool pump() {
    for (int i = 0; i < kReadsPerEvent; ++i) {
      const ssize_t got = ::read(pipe_.native_handle(), buffer_.data(), buffer_.size());
      if (got == 0) return false;
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return true;
      output_.write({buffer_.data(), static_cast<std::size_t>(got)});
    }
    return true;
  }

  void on_exit() {
    end_ = reap_child(exit_.native_handle());
    ARENA_ASSERT(end_);  // else somebody else has waited for our child
    if (!ending_) set_timer(kSettleTime);
    finish_if_alone();
  }

  void on_signal() {
    std::array<signalfd_siginfo, 16> infos{};
    const ssize_t size = ::read(signals_.native_handle(), infos.data(), sizeof infos);
    bool stop = false;
    for (std::size_t i = 0; size > 0 && i < static_cast<std::size_t>(size) / sizeof infos[0]; ++i) {
      stop = stop || infos[i].ssi_signo != SIGCHLD;
    }
    if (stop) {
      stop_requested_ = true;
      end_gently(Stopped{});
    }
    // SIGCHLD is a hint only. Orphans are reaped while the child runs, or a step of many hours fills the
    // process table.
    descendants_.reap(end_ ? 0 : child_);
    finish_if_alone();
  }

  void on_timer() {
    if (end_ || ending_) {
      done_ = true;  // the time to settle, or the grace, is over
    } else {
      end_gently(TimedOut{*time_limit_});
    }
  }

  void end_gently(const ProcessEnd& why) {
    if (end_ || ending_) return;
    ending_ = why;
    descendants_.signal(SIGTERM, child_);
    descendants_.signal(SIGCONT, child_);  // a stopped process hears SIGTERM only when it goes on
    set_timer(grace_);
  }

  void finish_if_alone() {
    if (!end_) return;
    descendants_.reap(0);
    if (!descendants_.any_left()) done_ = true;
  }

  Result<ProcessOutcome> conclude(Steady::time_point start) {
    if (!end_) {
      descendants_.signal(SIGKILL, child_);
      pollfd gone{exit_.native_handle(), POLLIN, 0};
      ::poll(&gone, 1, static_cast<int>(kKillPatience.count()));
      end_ = reap_child(exit_.native_handle());
    }
    ProcessOutcome outcome;
    ARENA_ASSIGN(const int killed, descendants_.end());
    outcome.left_processes = killed > 0;
    outcome.end = ending_ ? *ending_ : *end_;
    outcome.duration = std::chrono::duration_cast<milliseconds>(Steady::now() - start);
    pump();  // what is left in the pipe; all writers are gone, so this is at most its size
    if (Status kept = output_.finish(); !kept) outcome.output_error = std::move(kept).error();
    outcome.output_bytes = output_.total();
    return outcome;
  }

  bool& stop_requested_;
  const Descendants descendants_;  // made before the child: whoever is there already is spared
  OutputFile output_;
  pid_t child_ = 0;
  milliseconds grace_{0};
  std::optional<milliseconds> time_limit_;
  std::optional<ProcessEnd> end_;     // how the child ended, once it has
  std::optional<ProcessEnd> ending_;  // why we are ending it, if we are
  bool done_ = false;
  std::array<char, 1 << 16> buffer_;

  boost::asio::io_context io_{1};
  boost::asio::posix::stream_descriptor exit_;
  boost::asio::posix::stream_descriptor pipe_;
  boost::asio::posix::stream_descriptor signals_;
  boost::asio::steady_timer timer_;
};

}  // namespace

struct RealProcessRunner::State {
  sigset_t mask_before{};
  int was_subreaper = 0;
  ReapMode mode = ReapMode::subreaper;
  Descriptor signals;
  bool stop_requested = false;
};

RealProcessRunner::RealProcessRunner() : state_(std::make_unique<State>()) {
  // Blocked signals reach PID 1 too, which would not get an unblocked SIGTERM without a handler.
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&watched, signal);
  pthread_sigmask(SIG_BLOCK, &watched, &state_->mask_before);
  state_->signals = Descriptor(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  ARENA_ASSERT(state_->signals);
  if (::getpid() == 1) {
    state_->mode = ReapMode::pid_namespace;
  } else {
    ::prctl(PR_GET_CHILD_SUBREAPER, &state_->was_subreaper, 0, 0, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  }
}

RealProcessRunner::~RealProcessRunner() {
  if (state_->mode == ReapMode::subreaper) ::prctl(PR_SET_CHILD_SUBREAPER, state_->was_subreaper, 0, 0, 0);
  pthread_sigmask(SIG_SETMASK, &state_->mask_before, nullptr);
}

Result<ProcessOutcome> RealProcessRunner::run(const ProcessSpec& spec) {
  if (stop_requested()) return ProcessOutcome{.end = Stopped{}};
  ARENA_ASSIGN(OutputFile output, OutputFile::create(spec.output_file, spec.output_limit));
  try {
    return Run(state_->signals.get(), state_->stop_requested, state_->mode, std::move(output)).go(spec);
  } catch (const boost::system::system_error& error) {
    return fail(ErrorCode::io, fmt::format("cannot prepare to start a process: {}", error.what()));
  }
}

bool RealProcessRunner::stop_requested() {
  signalfd_siginfo info{};
  while (::read(state_->signals.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo != SIGCHLD) state_->stop_requested = true;
  }
  return state_->stop_requested;
}

ReapMode RealProcessRunner::reap_mode() const { return state_->mode; }

Result<int> RealProcessRunner::end_descendants() { return Descendants(state_->mode).end(); }

}  // namespace arena
