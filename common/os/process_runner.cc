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

// stdout or stderr of a child on its way into its file.
struct Stream {
  Stream(boost::asio::io_context& io, OutputStream which_one, OutputFile output)
      : which(which_one), pipe(io), file(std::move(output)) {}
  OutputStream which;
  boost::asio::posix::stream_descriptor pipe;
  OutputFile file;
};

// One run: the loop that watches one child until it and all it started are gone.
class Run {
 public:
  Run(int signals, bool& stop_requested, ReapMode mode, const ProcessSpec& spec)
      : spec_(spec),
        stop_requested_(stop_requested),
        descendants_(mode, Descendants::children_now()),
        steps_(spec.stop_steps),
        exit_(io_),
        signals_(io_, signals),
        timer_(io_),
        idle_timer_(io_),
        final_timer_(io_) {
    if (steps_.empty()) steps_.push_back({SIGTERM, spec.grace});
  }
  ~Run() { signals_.release(); }  // belongs to the runner
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Result<ProcessOutcome> go() {
    ARENA_ASSIGN(Descriptor output, add_stream(OutputStream::out, spec_.output_file));
    Descriptor errors;
    if (!spec_.error_file.empty()) {
      ARENA_ASSIGN(errors, add_stream(OutputStream::error, spec_.error_file));
    }
    const std::string input_name = spec_.stdin_file.empty() ? "/dev/null" : spec_.stdin_file.native();
    const Descriptor input = open_at(AT_FDCWD, input_name.c_str(), O_RDONLY | O_NOCTTY);
    if (!input) return fail(error_from_errno(errno, "open", input_name));
    start_ = last_output_ = Steady::now();
    ARENA_ASSIGN(Spawned child, spawn({spec_.argv, spec_.environment, spec_.working_directory, input.get(),
                                       output.get(), true, false, errors.get()}));
    output.close();
    errors.close();
    child_ = child.pid;
    try {
      watch(std::move(child.pidfd));
    } catch (const boost::system::system_error& error) {  // no descriptors left, for one
      ARENA_TRY(descendants_.end());
      return fail(ErrorCode::io, fmt::format("cannot watch '{}': {}", spec_.argv.front(), error.what()));
    }
    return conclude();
  }

 private:
  // The end the child writes to.
  Result<Descriptor> add_stream(OutputStream which, const fs::path& file) {
    ARENA_ASSIGN(Pipe pipe, make_pipe());
    ARENA_ASSIGN(OutputFile output, OutputFile::create(file, spec_.output_limit));
    streams_.push_back(std::make_unique<Stream>(io_, which, std::move(output)));
    streams_.back()->pipe.assign(pipe.read.release());
    return std::move(pipe.write);
  }

  void watch(Descriptor pidfd) {
    exit_.assign(pidfd.release());
    if (spec_.time_limit) set_timer(*spec_.time_limit);
    if (spec_.idle_limit) await_idleness(*spec_.idle_limit);
    await_exit();
    for (const auto& stream : streams_) await_output(*stream);
    await_signal();
    while (!done_) io_.run_one();
  }

  void await_exit() {
    exit_.async_wait(exit_.wait_read, [this](const error_code& error) {
      if (!error) on_exit();
    });
  }
  void await_output(Stream& stream) {
    stream.pipe.async_wait(stream.pipe.wait_read, [this, &stream](const error_code& error) {
      if (!error && pump(stream)) await_output(stream);
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
  // Output does not touch the timer; when it runs out, what has come meanwhile is looked at.
  void await_idleness(milliseconds from_now) {
    idle_timer_.expires_after(from_now);
    idle_timer_.async_wait([this](const error_code& error) {
      if (error || end_ || ending_) return;
      const auto left = std::chrono::ceil<milliseconds>(last_output_ + *spec_.idle_limit - Steady::now());
      if (left.count() > 0) return await_idleness(left);
      end_gently(TimedOut{*spec_.idle_limit, TimedOut::Timer::idle});
    });
  }
  void await_exit_after_last_word() {
    if (!spec_.final_grace || finished_) return;
    finished_ = true;
    final_timer_.expires_after(*spec_.final_grace);
    final_timer_.async_wait([this](const error_code& error) {
      if (!error) end_gently(TimedOut{*spec_.final_grace, TimedOut::Timer::final_grace});
    });
  }

  // Moves what is in the pipe into the file. False at its end: every writer is gone.
  bool pump(Stream& stream) {
    for (int i = 0; i < kReadsPerEvent; ++i) {
      const ssize_t got = ::read(stream.pipe.native_handle(), buffer_.data(), buffer_.size());
      if (got == 0) return false;
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return true;
      last_output_ = Steady::now();
      keep(stream, {buffer_.data(), static_cast<std::size_t>(got)});
    }
    return true;
  }

  void keep(Stream& stream, std::string_view bytes) {
    if (!spec_.tap) return stream.file.write(bytes);
    const Tapped tapped = spec_.tap(stream.which, bytes);
    stream.file.write(tapped.keep);
    if (tapped.finished) await_exit_after_last_word();
  }

  void on_exit() {
    end_ = reap_child(exit_.native_handle());
    ARENA_ASSERT(end_);  // else somebody else has waited for our child
    if (!ending_) {
      set_timer(kSettleTime);
    } else if (heard_by_group_only_) {
      take_next_step();  // what the child left behind has not been asked yet
    }
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
    if (ending_) {
      take_next_step();
    } else if (end_) {
      done_ = true;  // the time to settle is over
    } else {
      end_gently(TimedOut{*spec_.time_limit});
    }
  }

  void end_gently(const ProcessEnd& why) {
    if (end_ || ending_) return;
    ending_ = why;
    take_next_step();
  }

  // The next signal, or the end of patience.
  void take_next_step() {
    if (next_step_ == steps_.size()) {
      done_ = true;
      return;
    }
    const StopStep step = steps_[next_step_++];
    heard_by_group_only_ = step.signal == SIGINT;
    if (!heard_by_group_only_) {
      descendants_.signal(step.signal, end_ ? 0 : child_);
      descendants_.signal(SIGCONT,
                          end_ ? 0 : child_);  // a stopped process hears a signal only when it goes on
    } else if (!end_) {
      // Not reaped yet, so the group is still its own.
      ::kill(-child_, SIGINT);
      ::kill(-child_, SIGCONT);
    } else {
      return take_next_step();
    }
    set_timer(step.wait);
  }

  void finish_if_alone() {
    if (!end_) return;
    descendants_.reap(0);
    if (!descendants_.any_left()) done_ = true;
  }

  Result<ProcessOutcome> conclude() {
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
    outcome.duration = std::chrono::duration_cast<milliseconds>(Steady::now() - start_);
    for (const auto& stream : streams_) {
      pump(*stream);  // what is left in the pipe; all writers are gone, so this is at most its size
      if (spec_.tap) keep(*stream, {});
      if (Status kept = stream->file.finish(); !kept) outcome.output_error = std::move(kept).error();
      outcome.output_bytes += stream->file.total();
    }
    return outcome;
  }

  const ProcessSpec& spec_;
  bool& stop_requested_;
  const Descendants descendants_;  // made before the child: whoever is there already is spared
  std::vector<StopStep> steps_;
  std::size_t next_step_ = 0;
  bool heard_by_group_only_ = false;
  pid_t child_ = 0;
  Steady::time_point start_;
  Steady::time_point last_output_;
  std::optional<ProcessEnd> end_;     // how the child ended, once it has
  std::optional<ProcessEnd> ending_;  // why we are ending it, if we are
  bool finished_ = false;             // it has said its last word
  bool done_ = false;
  std::array<char, 1 << 16> buffer_;

  boost::asio::io_context io_{1};
  boost::asio::posix::stream_descriptor exit_;
  std::vector<std::unique_ptr<Stream>> streams_;
  boost::asio::posix::stream_descriptor signals_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer idle_timer_;
  boost::asio::steady_timer final_timer_;
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
  try {
    return Run(state_->signals.get(), state_->stop_requested, state_->mode, spec).go();
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
