// The real runner against real shells: each hazard in its smallest scenario. Nothing here measures time: a
// child that would take 600 s and did not delay the test shows it by itself.
#include "os/process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>

#include "base/text.h"
#include "fakes/temp_directory.h"
#include "os/file_system.h"
#include "os/tree.h"

namespace arena {

namespace {

const EnvironmentMap kPathOnly{{"PATH", "/usr/bin:/bin"}};

struct World {
  TempDirectory directory;
  RealProcessRunner runner;

  ProcessSpec shell(const std::string& script) const {
    ProcessSpec spec;
    spec.argv = {"sh", "-c", script};
    spec.environment = kPathOnly;
    spec.working_directory = directory.path();
    spec.output_file = directory / "out";
    return spec;
  }
  ProcessOutcome run(const ProcessSpec& spec) {
    Result<ProcessOutcome> outcome = runner.run(spec);
    REQUIRE_MESSAGE(outcome, (outcome ? "" : outcome.error().message));
    CHECK_FALSE(outcome->output_error);
    return std::move(*outcome);
  }
  ProcessOutcome run(const std::string& script) { return run(shell(script)); }
  std::string output() const { return RealFileSystem().read(directory / "out").value(); }
};

bool is_alive(pid_t pid) { return ::kill(pid, 0) == 0; }

template <class Way>
bool ended_by(const ProcessOutcome& outcome) {
  return std::holds_alternative<Way>(outcome.end);
}

std::int64_t peak_memory_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

TEST_SUITE_BEGIN("process");

TEST_CASE("an exit code is never a signal, nor a signal an exit code") {
  World world;
  for (const auto& [command, text] : std::vector<std::pair<std::string, std::string>>{
           {"exit 0", "exit code 0"},
           {"exit 9", "exit code 9"},
           {"exit 127", "exit code 127"},
           {"exit 137", "exit code 137"},
           {"kill -9 $$", "killed by SIGKILL"},
           {"ulimit -c 0; kill -ABRT $$", "killed by SIGABRT"},
           {"kill -TERM $$", "killed by SIGTERM"},
       }) {
    const std::string script = command;
    CAPTURE(script);
    const ProcessOutcome outcome = world.run(script);
    CHECK(describe(outcome.end) == text);
    CHECK(outcome.succeeded() == (script == "exit 0"));
    CHECK_FALSE(outcome.left_processes);
  }
  CHECK(describe(Signaled{SIGSEGV, true}) == "killed by SIGSEGV (core dumped)");
  CHECK(describe(TimedOut{std::chrono::seconds(60)}) == "timed out after 60 s");
  CHECK(describe(TimedOut{std::chrono::milliseconds(250)}) == "timed out after 250 ms");
  CHECK(describe(Stopped{}) == "stopped");
}

TEST_CASE("a program that cannot be started is an error that says why, not an exit code") {
  World world;
  RealFileSystem disk;
  REQUIRE(disk.create(world.directory / "text", "#!/no/such/interpreter\n", Sync::no));
  const auto error_of = [&world](const std::string& program, const fs::path& directory = {}) {
    ProcessSpec spec = world.shell("");
    spec.argv = {program};
    if (!directory.empty()) spec.working_directory = directory;
    const auto outcome = world.runner.run(spec);
    REQUIRE_FALSE(outcome);
    return outcome.error();
  };
  CHECK(error_of("no-such-program").code == ErrorCode::not_found);
  CHECK(contains(error_of("no-such-program").message, "/usr/bin:/bin"));
  CHECK(error_of("/no/such/program").code == ErrorCode::not_found);
  CHECK(error_of("./text").code == ErrorCode::denied);
  CHECK(error_of("").code == ErrorCode::invalid_input);
  CHECK(error_of("/bin/true", world.directory / "no").code == ErrorCode::not_found);
  CHECK(contains(error_of("/bin/true", world.directory / "no").message, (world.directory / "no").native()));
  REQUIRE(::chmod((world.directory / "text").c_str(), 0755) == 0);
  CHECK(contains(error_of((world.directory / "text").native()).message, "interpreter"));
  ProcessSpec spec = world.shell("");
  spec.stdin_file = world.directory / "no";
  CHECK(world.runner.run(spec).error().code == ErrorCode::not_found);
}

TEST_CASE("a child gets the environment, words and directory it was given, and nothing else") {
  World world;
  ProcessSpec spec = world.shell("");
  spec.argv = {"/usr/bin/env"};
  spec.environment = {{"A", "1 2"}, {"B", ""}};
  world.run(spec);
  CHECK(world.output() == "A=1 2\nB=\n");
  spec = world.shell("");
  spec.argv = {"/bin/sh", "-c", "printf '%s|' \"$@\"; pwd", "name", "a b", "", "$HOME", "*"};
  world.run(spec);
  CHECK(world.output() == "a b||$HOME|*|" + world.directory.path().native() + "\n");
}

TEST_CASE("a child that reads stdin reads its end, or the file it was given") {
  World world;
  CHECK(world.run("cat; echo done").succeeded());
  CHECK(world.output() == "done\n");
  REQUIRE(RealFileSystem().create(world.directory / "prompt", "do it\n", Sync::no));
  ProcessSpec spec = world.shell("cat");
  spec.stdin_file = world.directory / "prompt";
  world.run(spec);
  CHECK(world.output() == "do it\n");
}

TEST_CASE("a child has no descriptor, blocked or ignored signal, session or terminal of ours") {
  World world;
  REQUIRE(::dup2(STDERR_FILENO, 57) == 57);  // stays open over exec
  const auto previous = std::signal(SIGHUP, SIG_IGN);
  // 32 and 33 are libc's own, which only the system call can set: some shells and supervisors leave them so.
  const std::array<unsigned long, 8> ignore = {1};
  const std::array<unsigned long, 8> default_action = {};
  const std::array<int, 3> hidden = {32, 34, 64};
  for (const int signal : hidden) REQUIRE(::syscall(SYS_rt_sigaction, signal, &ignore, nullptr, 8) == 0);
  world.run(
      "[ -e /proc/self/fd/57 ] && echo leaked; grep -E 'SigBlk|SigIgn' /proc/self/status;"
      "read pid name state parent group session rest < /proc/$$/stat; echo $((group - pid)) $((session - "
      "pid));"
      "(: < /dev/tty) 2> /dev/null && echo terminal");
  for (const int signal : hidden) ::syscall(SYS_rt_sigaction, signal, &default_action, nullptr, 8);
  std::signal(SIGHUP, previous);
  ::close(57);
  CHECK(world.output() == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0 0\n");
}

TEST_CASE("stdout and stderr land in one file in the order in which they were written") {
  World world;
  const ProcessOutcome outcome = world.run("echo a; echo b >&2; echo c");
  CHECK(world.output() == "a\nb\nc\n");
  CHECK(outcome.output_bytes == 6);
}

TEST_CASE("a background child that holds the pipe neither delays its step nor outlives it") {
  World world;
  const ProcessOutcome outcome = world.run("sleep 600 & echo $!");
  CHECK(outcome.succeeded());
  CHECK(outcome.left_processes);
  CHECK_FALSE(is_alive(static_cast<pid_t>(parse_integer(trim(world.output())).value())));
}

TEST_CASE("a daemon with its own session is gone when its step has ended") {
  World world;
  const ProcessOutcome outcome = world.run(
      "mkfifo f; setsid sh -c 'sleep 600 & echo $! $$ > f; exec sleep 600' > /dev/null 2>&1 < /dev/null &\n"
      "read pids < f; echo $pids");
  CHECK(outcome.succeeded());
  CHECK(outcome.left_processes);
  const auto pids = split(world.output(), " \n");
  REQUIRE(pids.size() == 2);
  for (const std::string& pid : pids) CHECK_FALSE(is_alive(static_cast<pid_t>(parse_integer(pid).value())));
}

TEST_CASE("what was printed before the end is kept though its writer was a background child") {
  World world;
  world.run("mkfifo f; (echo from below; echo x > f; sleep 600) & read x < f");
  CHECK(world.output() == "from below\n");
}

TEST_CASE("a time limit ends a child with all it has started") {
  World world;
  ProcessSpec spec = world.shell("sleep 600 & setsid sleep 600 & sleep 600");
  spec.time_limit = std::chrono::milliseconds(20);
  const ProcessOutcome outcome = world.run(spec);
  CHECK(ended_by<TimedOut>(outcome));
  CHECK(world.runner.end_descendants().value() == 0);
}

TEST_CASE("a child that ignores SIGTERM ends after the grace") {
  World world;
  // It is the child that asks us to stop, so that its trap is in place.
  ProcessSpec spec = world.shell("trap '' TERM; kill -TERM $PPID; while :; do sleep 600; done");
  spec.grace = std::chrono::milliseconds(20);
  CHECK(ended_by<Stopped>(world.run(spec)));
}

TEST_CASE("a child that heeds SIGTERM may finish what it has to say") {
  World world;
  ProcessSpec spec = world.shell("trap 'echo bye; exit 0' TERM; kill -TERM $PPID; while :; do :; done");
  spec.grace = std::chrono::minutes(10);
  const ProcessOutcome outcome = world.run(spec);
  CHECK(ended_by<Stopped>(outcome));
  CHECK(world.output() == "bye\n");
}

TEST_CASE("a stopped child is ended by its time limit") {
  World world;
  ProcessSpec spec = world.shell("kill -STOP $$; exit 3");
  spec.time_limit = std::chrono::milliseconds(20);
  CHECK(ended_by<TimedOut>(world.run(spec)));
}

TEST_CASE("a process that was asked to stop starts nothing more") {
  World world;
  CHECK_FALSE(world.runner.stop_requested());
  ::kill(::getpid(), SIGTERM);
  CHECK(world.runner.stop_requested());
  CHECK(ended_by<Stopped>(world.run("echo started")));
  CHECK_FALSE(RealFileSystem().exists(world.directory / "out").value());
}

TEST_CASE("orphans are reaped while a step runs, and its exit code is not lost over it") {
  World world;
  // Ends only when no unreaped child of ours is left, although the step itself still runs.
  const ProcessOutcome outcome = world.run(
      "i=0; while [ $i -lt 100 ]; do (: &); i=$((i+1)); done\n"
      "while cat /proc/[0-9]*/stat 2> /dev/null | grep -q \") Z $PPID \"; do :; done; exit 3");
  CHECK(describe(outcome.end) == "exit code 3");
  CHECK_FALSE(outcome.left_processes);
}

TEST_CASE("three hundred megabytes of output cost neither memory nor disk") {
  World world;
  ProcessSpec spec = world.shell("echo first; head -c 300000000 /dev/zero; echo; echo last");
  spec.output_limit = 1 << 20;
  const std::int64_t before = peak_memory_kib();
  const ProcessOutcome outcome = world.run(spec);
  CHECK(peak_memory_kib() - before < 32 << 10);
  CHECK(outcome.succeeded());
  CHECK(outcome.output_bytes == 300000000 + 12);
  const std::string kept = world.output();
  CHECK(kept.size() < (1 << 20) + 100);
  CHECK(kept.substr(0, 6) == "first\n");
  CHECK(kept.substr(kept.size() - 6) == "\nlast\n");
  CHECK(contains(kept, fmt::format("\n... {} bytes left out ...\n", 300000012 - (1 << 20))));
}

TEST_CASE("output without a file is counted and thrown away") {
  World world;
  ProcessSpec spec = world.shell("echo 12345");
  spec.output_file.clear();
  CHECK(world.run(spec).output_bytes == 6);
}

TEST_CASE("a parent that ignored SIGCHLD before us costs no exit status") {
  const auto previous = std::signal(SIGCHLD, SIG_IGN);
  World world;
  CHECK(describe(world.run("exit 3").end) == "exit code 3");
  std::signal(SIGCHLD, previous);
}

TEST_CASE("a second runner after the first works, and signals are as before") {
  { World first; }
  World second;
  CHECK(second.run("exit 0").succeeded());
}

TEST_CASE("programs are found in absolute directories of PATH only") {
  TempDirectory directory;
  RealFileSystem disk;
  for (const char* const name : {"a", "b", "c"}) REQUIRE(disk.make_directory(directory / name));
  REQUIRE(disk.create(directory / "a/tool", "", Sync::no));  // not executable
  REQUIRE(disk.make_directory(directory / "b/tool"));
  REQUIRE(disk.create(directory / "c/tool", "", Sync::no));
  REQUIRE(::chmod((directory / "c/tool").c_str(), 0755) == 0);
  const std::string root = directory.path().native();
  CHECK(find_program("tool", root + "/a:" + root + "/b::" + root + "/c") == directory / "c/tool");
  CHECK(find_program("tool", root + "/a").empty());
  CHECK(find_program("", root + "/c").empty());
  CHECK(find_program("tool", "").empty());
  const fs::path before = fs::current_path();
  fs::current_path(directory / "c");
  CHECK(find_program("tool", ".:").empty());
  fs::current_path(before);
}

TEST_CASE("a silent child is ended by the idle limit, one that talks is not") {
  World world;
  ProcessSpec silent = world.shell("echo hello; sleep 600");
  silent.idle_limit = std::chrono::milliseconds(300);
  CHECK(describe(world.run(silent).end) == "silent for 300 ms");

  ProcessSpec talking = world.shell("i=0; while [ $i -lt 25 ]; do i=$((i + 1)); echo $i; sleep 0.1; done");
  talking.idle_limit = std::chrono::milliseconds(2000);
  CHECK(world.run(talking).succeeded());
}

TEST_CASE("a child that has said its last word gets the final grace and no more") {
  World world;
  const auto hears_the_end = [](OutputStream, std::string_view bytes) {
    return Tapped{std::string(bytes), contains(bytes, "THE END")};
  };
  ProcessSpec lingering = world.shell("echo THE END; sleep 600");
  lingering.tap = hears_the_end;
  lingering.final_grace = std::chrono::milliseconds(200);
  CHECK(describe(world.run(lingering).end) == "did not exit within 200 ms of its last event");
  ProcessSpec leaving = world.shell("echo THE END; sleep 0.1; exit 3");
  leaving.tap = hears_the_end;
  leaving.final_grace = std::chrono::seconds(60);
  CHECK(describe(world.run(leaving).end) == "exit code 3");
}

TEST_CASE("a tap sees every byte once, by stream, and what it returns is kept") {
  World world;
  ProcessSpec spec = world.shell("printf out; printf wrong >&2; printf put");
  spec.error_file = world.directory / "err";
  std::string out;
  std::string err;
  int ends = 0;
  spec.tap = [&](OutputStream stream, std::string_view bytes) {
    (stream == OutputStream::out ? out : err) += bytes;
    if (bytes.empty()) ++ends;
    return Tapped{bytes.empty() ? "." : std::string(bytes.size(), 'x'), false};
  };
  CHECK(world.run(spec).output_bytes == 13);  // as kept
  CHECK(out == "output");
  CHECK(err == "wrong");
  CHECK(ends == 2);
  CHECK(world.output() == "xxxxxx.");
  CHECK(RealFileSystem().read(world.directory / "err") == "xxxxx.");
}

TEST_CASE("ending goes step by step: INT to the child's group, TERM to all, KILL") {
  World world;
  // Nothing is ended before it has set its traps, however busy the machine is.
  const auto hears = [](const char* word) {
    return [word](OutputStream, std::string_view bytes) {
      return Tapped{std::string(bytes), contains(bytes, word)};
    };
  };
  // The child cleans up on INT; what it started in a session of its own hears nothing of that, and TERM
  // later.
  ProcessSpec polite = world.shell(
      "trap 'echo child-int; exit 0' INT; setsid sh -c 'trap \"echo other-int\" INT; trap \"echo other-term; "
      "exit\" TERM; "
      "echo ready; while :; do sleep 0.05; done' 2>/dev/null & while :; do sleep 0.05; done");
  polite.tap = hears("ready");
  polite.final_grace = std::chrono::milliseconds(1);
  polite.stop_steps = {{SIGINT, std::chrono::seconds(60)}, {SIGTERM, std::chrono::seconds(60)}};
  const ProcessOutcome outcome = world.run(polite);
  CHECK(describe(outcome.end) == "did not exit within 1 ms of its last event");
  CHECK(world.output() == "ready\nchild-int\nother-term\n");

  ProcessSpec deaf = world.shell("trap '' INT TERM; echo deaf; while :; do sleep 0.05; done");
  deaf.tap = hears("deaf");
  deaf.final_grace = std::chrono::milliseconds(1);
  deaf.stop_steps = {{SIGINT, std::chrono::milliseconds(100)}, {SIGTERM, std::chrono::milliseconds(100)}};
  CHECK(describe(world.run(deaf).end) == "did not exit within 1 ms of its last event");
  CHECK(world.runner.end_descendants() == 0);
}

TEST_SUITE_END();

}  // namespace arena
