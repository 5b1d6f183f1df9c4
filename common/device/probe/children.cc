#include "device/probe/children.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/result.h"
#include "base/text.h"

namespace arena {

namespace {

using Json = nlohmann::ordered_json;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kNoiseKept = 400;

// One job, run again without the device at which it hung.
class Child {
 public:
  Child(const ChildJob& job, const ChildLimits& limits) : job_(job), limits_(limits) {}

  void start(Steady::time_point now) {
    std::array<int, 2> ends{};
    ARENA_ASSERT(::pipe2(ends.data(), O_CLOEXEC) == 0);
    noise_ = ::memfd_create("arena-probe-noise", MFD_CLOEXEC);
    buffer_.clear();
    reading_device_.clear();
    pid_ = ::fork();
    ARENA_ASSERT(pid_ >= 0);
    if (pid_ == 0) become_child(ends[1]);
    ::close(ends[1]);
    pipe_ = ends[0];
    due_ = now + limits_.library;
  }

  bool running() const { return pipe_ >= 0; }
  int pipe() const { return pipe_; }
  Steady::time_point due() const { return due_; }
  ChildOutcome take_outcome() { return std::move(outcome_); }

  void read_lines(Steady::time_point now) {
    std::array<char, 65536> bytes;
    const ssize_t got = ::read(pipe_, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) return conclude();
    buffer_.append(bytes.data(), static_cast<std::size_t>(got));
    for (std::size_t end = buffer_.find('\n'); end != std::string::npos; end = buffer_.find('\n')) {
      take_line(Json::parse(buffer_.substr(0, end), nullptr, false), now);
      buffer_.erase(0, end + 1);
    }
  }

  // Silent for too long. A hang at one device is no reason to learn nothing of the others.
  void give_up(Steady::time_point now, bool may_run_again) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, WNOHANG);
    outcome_.end = ChildOutcome::End::hung;
    close();
    if (reading_device_.empty()) return;
    outcome_.hung_devices.emplace_back(reading_device_, outcome_.reading);
    if (may_run_again && skipped_.insert(reading_device_).second) start(now);
  }

 private:
  [[noreturn]] void become_child(int pipe) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);  // libraries abort on trees they do not expect
    ::dup2(noise_, STDOUT_FILENO);
    ::dup2(noise_, STDERR_FILENO);
    job_.work(ChildReport(pipe, skipped_));
    ::_exit(0);  // not exit: the destructors of vendors' libraries hang too
  }

  void take_line(Json line, Steady::time_point now) {
    if (!line.is_object()) return;
    if (const auto what = line.find("reading"); what != line.end()) {
      outcome_.reading = what->get<std::string>();
      reading_device_ = line.value("device", "");
      due_ = now + (reading_device_.empty() ? limits_.library : limits_.device);
    } else {
      outcome_.lines.push_back(std::move(line));
    }
  }

  void conclude() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    const bool fine = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    outcome_.end = fine ? ChildOutcome::End::finished : ChildOutcome::End::crashed;
    outcome_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    close();
  }

  void close() {
    ::close(std::exchange(pipe_, -1));
    std::string noise(kNoiseKept, '\0');
    const off_t size = ::lseek(noise_, 0, SEEK_END);
    const off_t start = std::max<off_t>(size - static_cast<off_t>(kNoiseKept), 0);
    const ssize_t got = ::pread(noise_, noise.data(), noise.size(), start);
    noise.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    outcome_.noise = to_printable_utf8(trim(noise));
    ::close(noise_);
  }

  const ChildJob& job_;
  const ChildLimits& limits_;
  std::set<std::string> skipped_;
  ChildOutcome outcome_;
  pid_t pid_ = 0;
  int pipe_ = -1;
  int noise_ = -1;
  std::string buffer_;
  std::string reading_device_;
  Steady::time_point due_;
};

}  // namespace

void ChildReport::send(const Json& line) const {
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) ::_exit(1);  // the parent is gone
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

SourceSink ChildReport::sink() const {
  return {[this](const std::string& what, const std::string& device) {
            if (skipped_.contains(device)) return false;
            send({{"reading", what}, {"device", device}});
            return true;
          },
          [this](const Device& device) {
            send({{"found", to_json(device)}});
          }};
}

std::vector<ChildOutcome> run_children(const std::vector<ChildJob>& jobs, const ChildLimits& limits) {
  const Steady::time_point end = Steady::now() + limits.total;
  std::vector<Child> children;
  children.reserve(jobs.size());
  for (const ChildJob& job : jobs) children.emplace_back(job, limits).start(Steady::now());
  for (;;) {
    std::vector<pollfd> watched;
    Steady::time_point next = end;
    for (const Child& child : children) {
      watched.push_back({child.pipe(), POLLIN, 0});  // a negative descriptor is left out by poll
      if (child.running()) next = std::min(next, child.due());
    }
    if (std::none_of(children.begin(), children.end(), [](const Child& child) { return child.running(); }))
      break;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - Steady::now());
    ::poll(watched.data(), watched.size(), static_cast<int>(std::max<std::int64_t>(wait.count(), 0)));
    const Steady::time_point now = Steady::now();
    for (std::size_t i = 0; i < children.size(); ++i) {
      Child& child = children[i];
      if (!child.running()) continue;
      if (watched[i].revents != 0) {
        child.read_lines(now);
      } else if (now >= child.due() || now >= end) {
        child.give_up(now, now < end);
      }
    }
  }
  std::vector<ChildOutcome> outcomes;
  outcomes.reserve(children.size());
  for (Child& child : children) outcomes.push_back(child.take_outcome());
  return outcomes;
}

}  // namespace arena
