// Long-lived children and other processes by identity. Some tests start this very program again as a child:
// see run_as_helper.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>

#include "base/text.h"
#include "fakes/await_end.h"
#include "fakes/temp_directory.h"
#include "os/file_system.h"
#include "os/process.h"
#include "os/process_table.h"

namespace arena {

namespace {

const std::string kPath = "/usr/bin:/bin";

// With ARENA_TEST_HELPER set, this program prints who it is, runs that as a shell script through a runner of
// its own, prints how it ended, and exits before any test begins.
const bool kRanAsHelper = [] {
  const char* const script = std::getenv("ARENA_TEST_HELPER");
  if (script == nullptr) return false;
  RealProcessRunner runner;
  const ProcessIdentity identity = current_process_identity().value();
  std::printf("%d %d %d %llu\n", static_cast<int>(::getpid()),
              runner.reap_mode() == ReapMode::pid_namespace ? 1 : 0, static_cast<int>(identity.pid),
              static_cast<unsigned long long>(identity.start_ticks));
  ProcessSpec spec;
  spec.argv = {"sh", "-c", script};
  spec.environment = {{"PATH", kPath}};
  const auto outcome = runner.run(spec);
  std::printf("%s, left %d, then %d\n",
              outcome ? describe(outcome->end).c_str() : outcome.error().message.c_str(),
              outcome && outcome->left_processes ? 1 : 0, runner.end_descendants().value_or(-1));
  std::fflush(stdout);
  ::_exit(0);
}();

struct World {
  TempDirectory directory;

  LaunchSpec shell(const std::string& script) const {
    LaunchSpec spec;
    spec.argv = {"sh", "-c", script};
    spec.environment = {{"PATH", kPath}};
    spec.working_directory = directory.path();
    spec.output_file = directory / "out";
    return spec;
  }
  LaunchSpec helper(const std::string& script) const {
    LaunchSpec spec = shell("");
    spec.argv = {fs::read_symlink("/proc/self/exe").native()};
    spec.environment["ARENA_TEST_HELPER"] = script;
    spec.new_pid_namespace = true;
    return spec;
  }
  void make_fifo(const char* name) const { REQUIRE(::mkfifo((directory / name).c_str(), 0600) == 0); }
  // Waits for somebody to write into it.
  std::string read_fifo(const char* name) const {
    const int descriptor = ::open((directory / name).c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(descriptor >= 0);
    std::string text(1000, '\0');
    const ssize_t size = ::read(descriptor, text.data(), text.size());
    ::close(descriptor);
    return text.substr(0, size < 0 ? 0 : static_cast<std::size_t>(size));
  }
  std::vector<std::string> output_lines() const {
    return split(RealFileSystem().read(directory / "out").value(), "\n");
  }
};

LaunchedProcess launched(const LaunchSpec& spec) {
  Result<LaunchedProcess> process = launch(spec);
  REQUIRE_MESSAGE(process, (process ? "" : process.error().message));
  return std::move(*process);
}

ProcessIdentity identity_of(const LaunchedProcess& process) {
  ProcessIdentity identity = current_process_identity().value();
  identity.pid = process.pid();
  identity.start_ticks = read_process_entry(std::to_string(process.pid())).value().start_ticks;
  return identity;
}

}  // namespace

TEST_SUITE_BEGIN("process");

TEST_CASE("a launched process is watched through its pidfd and reaped once") {
  World world;
  const LaunchedProcess process = launched(world.shell("echo one; exit 3"));
  CHECK(describe(await_end(process).value()) == "exit code 3");
  CHECK_FALSE(process.reap());
  CHECK(process.signal(SIGTERM).error().code == ErrorCode::not_found);
  await_end(launched(world.shell("echo two")));
  CHECK(world.output_lines() == std::vector<std::string>{"one", "two"});  // appended
}

TEST_CASE("a running process is not reaped, and killed through its handle") {
  World world;
  LaunchedProcess process = launched(world.shell("exec sleep 600"));
  CHECK_FALSE(process.reap());
  const LaunchedProcess moved = std::move(process);
  CHECK(moved.signal(SIGKILL));
  CHECK(describe(await_end(moved).value()) == "killed by SIGKILL");
}

TEST_CASE("a program that cannot be launched is an error, in a PID namespace too") {
  World world;
  LaunchSpec spec = world.shell("");
  spec.argv = {"/no/such/program"};
  for (const bool new_pid_namespace : {false, true}) {
    spec.new_pid_namespace = new_pid_namespace;
    CHECK(launch(spec).error().code == ErrorCode::not_found);
  }
  spec.output_file = world.directory / "no/out";
  CHECK_FALSE(launch(spec));
}

TEST_CASE(
    "eight threads launch children at once: each status goes to its own, no child holds another's pipe") {
  World world;
  std::vector<std::thread> threads;
  std::vector<std::string> ends(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&world, &ends, t] {
      for (int round = 0; round < 10; ++round) {
        const auto process = launch(world.shell(fmt::format("exit {}", t)));
        if (process) ends[static_cast<std::size_t>(t)] = describe(await_end(*process).value());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < ends.size(); ++t) CHECK(ends[t] == fmt::format("exit code {}", t));
}

TEST_CASE("a runner leaves launched children alone until it is told to end everything") {
  World world;
  RealProcessRunner runner;
  const LaunchedProcess worker = launched(world.shell("exec sleep 600"));
  const LaunchedProcess ended = launched(world.shell("exit 4"));
  pollfd exited{ended.pidfd(), POLLIN, 0};
  REQUIRE(::poll(&exited, 1, -1) == 1);
  ProcessSpec spec;
  spec.argv = {"/bin/sh", "-c", "sleep 600 & exit 3"};
  spec.environment = {{"PATH", kPath}};
  const ProcessOutcome outcome = runner.run(spec).value();
  CHECK(describe(outcome.end) == "exit code 3");
  CHECK(outcome.left_processes);
  CHECK(worker.signal(0));
  CHECK(describe(ended.reap().value()) == "exit code 4");  // its status was not taken
  CHECK(runner.end_descendants().value() == 1);
  CHECK(worker.signal(0).error().code == ErrorCode::not_found);
}

TEST_CASE("a process killed as first of its PID namespace takes its daemons with it") {
  World world;
  world.make_fifo("f");
  LaunchSpec spec =
      world.shell("setsid sh -c 'read pid rest < /proc/self/stat; echo $pid > f; exec sleep 600' & wait");
  spec.new_pid_namespace = true;
  const LaunchedProcess process = launched(spec);
  const auto daemon = read_process_entry(std::string(trim(world.read_fifo("f"))));
  REQUIRE(daemon);  // by the number outside
  const Descriptor watched = open_pidfd(*daemon);
  REQUIRE(watched);
  CHECK_FALSE(has_exited(watched.get()));
  CHECK(process.signal(SIGKILL));
  await_end(process);
  if (process.pid_namespace()) {
    CHECK(has_exited(watched.get()));
  } else {  // this system allows no PID namespaces: then it is on us
    send_signal(watched.get(), SIGKILL);
  }
}

TEST_CASE("a runner that is PID 1 ends daemons, knows its number outside, and hears SIGTERM") {
  World world;
  world.make_fifo("f");
  const LaunchedProcess process =
      launched(world.helper("mkfifo g; setsid sh -c 'echo x > g; exec sleep 600' & read x < g; exit 5"));
  await_end(process);
  auto lines = world.output_lines();
  REQUIRE(lines.size() == 2);
  const auto identity = split(lines[0], " ");
  REQUIRE(identity.size() == 4);
  if (process.pid_namespace()) CHECK(identity[0] + identity[1] == "11");
  CHECK(identity[2] == std::to_string(process.pid()));
  CHECK(lines[1] == "exit code 5, left 1, then 0");

  REQUIRE(RealFileSystem().remove(world.directory / "out"));
  const LaunchedProcess second = launched(world.helper("echo x > f; sleep 600"));
  world.read_fifo("f");
  CHECK(second.signal(SIGTERM));
  await_end(second);
  lines = world.output_lines();
  REQUIRE(lines.size() == 2);
  CHECK(lines[1] == "stopped, left 0, then 0");
}

TEST_CASE("a process is found from outside by its identity, and nothing once it has exited") {
  World world;
  for (const bool new_pid_namespace : {false, true}) {
    LaunchSpec spec = world.shell("exec sleep 600");
    spec.new_pid_namespace = new_pid_namespace;
    const LaunchedProcess process = launched(spec);
    const ProcessIdentity identity = identity_of(process);
    {
      const auto found = open_process(identity).value();
      REQUIRE(found);
      CHECK(found->pid() == process.pid());
      CHECK(found->pid_namespace() == process.pid_namespace());
      CHECK(found->signal(SIGKILL));
    }
    pollfd exited{process.pidfd(), POLLIN, 0};
    REQUIRE(::poll(&exited, 1, -1) == 1);
    CHECK_FALSE(open_process(identity).value());  // a zombie has exited
    CHECK(process.reap());
    CHECK_FALSE(open_process(identity).value());
  }
}

TEST_CASE("a reused pid, another boot and another host are not taken for the process") {
  const ProcessIdentity own = current_process_identity().value();
  CHECK(open_process(own).value());
  ProcessIdentity other = own;
  other.start_ticks += 1;
  CHECK_FALSE(open_process(other).value());
  other = own;
  other.boot_id = "00000000-0000-0000-0000-000000000000";
  CHECK_FALSE(open_process(other).value());
  other = own;
  other.pid = 0;
  CHECK_FALSE(open_process(other).value());
  other = own;
  other.host += ".elsewhere";
  CHECK(open_process(other).error().code == ErrorCode::unsupported);
}

TEST_CASE("an adopted process can be watched but has no exit status for us") {
  const LaunchedProcess adopted = open_process(current_process_identity().value()).value().value();
  CHECK_FALSE(adopted.reap());
}

TEST_CASE("every process that carries a mark is ended, and no other") {
  World world;
  world.make_fifo("f");
  LaunchSpec spec = world.shell("setsid sh -c 'echo x > f; exec sleep 600' & exec sleep 600");
  spec.environment["ARENA_TEST_MARK"] = fmt::format("{}/1", ::getpid());
  const LaunchedProcess marked = launched(spec);
  world.read_fifo("f");
  spec = world.shell("echo x > f; exec sleep 600");
  spec.environment["ARENA_TEST_MARK"] = fmt::format("{}/10", ::getpid());
  spec.environment["OTHER_ARENA_TEST_MARK"] = fmt::format("{}/1", ::getpid());
  const LaunchedProcess other = launched(spec);
  world.read_fifo("f");

  CHECK(kill_marked_processes("ARENA_TEST_MARK", fmt::format("{}/1", ::getpid())).value() == 2);
  CHECK(describe(await_end(marked).value()) == "killed by SIGKILL");
  CHECK(other.signal(0));
  CHECK(kill_marked_processes("ARENA_TEST_MARK", fmt::format("{}/1", ::getpid())).value() == 0);
  CHECK(other.signal(SIGKILL));
  await_end(other);
}

TEST_CASE("a process's line in /proc is read whatever the process calls itself") {
  const std::string rest = " S 7 8 9 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 4711 1 2 3\n";
  for (const std::string name : {"sh", "a b", "x) Z 1 (", "", ")"}) {
    const auto entry = parse_process_entry("42 (" + name + ")" + rest);
    REQUIRE(entry);
    CHECK(entry->pid == 42);
    CHECK(entry->name == name);
    CHECK(entry->state == 'S');
    CHECK(entry->parent == 7);
    CHECK(entry->group == 8);
    CHECK(entry->start_ticks == 4711);
  }
  for (const char* const bad : {"", "42", "42 (sh", "42 (sh)", "42 (sh) S 1 2",
                                "x (sh) S 7 8 9 0 -1 1 2 3 4 5 6 7 8 9 20 0 1 0 4711"}) {
    CHECK_FALSE(parse_process_entry(bad));
  }
}

TEST_SUITE_END();

}  // namespace arena
