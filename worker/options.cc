#include "worker/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <sstream>

#include "queue/queue_layout.h"

namespace arena {

namespace {

fs::path absolute(const std::string& path) {
  boost::system::error_code ignored;
  const fs::path made = fs::system_complete(path, ignored);
  return ignored ? fs::path(path) : made;
}

fs::path default_probe() {
  boost::system::error_code unreadable;
  const fs::path program = fs::read_symlink("/proc/self/exe", unreadable);
  return unreadable ? fs::path("arena-probe") : program.parent_path() / "arena-probe";
}

}  // namespace

fs::path default_data_directory() {
  boost::system::error_code unreadable;
  const fs::path program = fs::read_symlink("/proc/self/exe", unreadable);
  return unreadable ? fs::path("share/arena") : program.parent_path().parent_path() / "share" / "arena";
}

std::variant<WorkerOptions, EarlyExit> parse_worker_options(int argc, const char* const* argv) {
  WorkerOptions options;
  std::string run, data, cache, log, probe, home;
  CLI::App app{"Executes the tasks of a run, one at a time. Started by arena-coord.", "arena-worker"};
  app.set_version_flag("--version", ARENA_VERSION);
  app.add_option("--run-dir", run, "run directory")->required();
  app.add_option("--worker-id", options.worker_id, "slot.n, unique for every start")->required();
  app.add_option("--device", options.device, "what this worker measures on, for the results");
  app.add_option("--probe", probe, "arena-probe (default: beside the program)");
  app.add_flag("--wait-for-gpu", options.wait_for_gpu, "wait for the device while another run holds it");
  app.add_option("--launcher", options.launcher, "how it was started");
  app.add_option("--data-dir", data,
                 "directory of agents/ and prompts/ (default: ../share/arena beside the program)");
  app.add_option("--cache-dir", cache, "cloned repositories (default: .arena_cache in the workspace root)");
  app.add_option("--user-home", home, "where agents' login files are copied from");
  app.add_option("--log-file", log, "log file (default: only warnings, on stderr)");
  app.add_flag("-v,--verbose", options.verbose, "log every command too");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream problem;
    const int code = app.exit(error, out, problem);
    return EarlyExit{code == 0 ? 0 : 2, out.str() + problem.str()};
  }
  if (!parse_worker_id(options.worker_id)) {
    return EarlyExit{
        2, fmt::format("arena-worker: --worker-id '{}' is not slot.n, for example 0.1\n", options.worker_id)};
  }
  options.run_directory = absolute(run);
  options.data_directory = data.empty() ? default_data_directory() : absolute(data);
  options.probe = probe.empty() ? default_probe() : absolute(probe);
  options.cache_directory =
      cache.empty() ? options.run_directory.parent_path().parent_path() / ".arena_cache" : absolute(cache);
  if (!home.empty()) options.user_home = absolute(home);
  if (!log.empty()) options.log_file = absolute(log);
  return options;
}

}  // namespace arena
