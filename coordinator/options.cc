#include "coordinator/options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.h"
#include "queue/queue_layout.h"

namespace arena {

namespace {

constexpr std::int64_t kMostSlots = 4096;
constexpr std::int64_t kMostAttempts = 100;

// What CLI11 fills in: numbers stay text, so that "1.0", "0x3" and "" are refused by us and by name.
struct RawOptions {
  Options options;
  std::string config, tasks_directory, cpu_slots, max_attempts, halt, older_than;
  bool quiet = false, verbose = false;
};

void add_common(CLI::App& app, RawOptions& raw) {
  app.add_flag("-q,--quiet", raw.quiet, "only errors and the final summary");
  app.add_flag("-v,--verbose", raw.verbose, "more detail");
}

void add_root(CLI::App& app, RawOptions& raw) {
  app.add_option_function<std::string>(
         "--workspace-root", [&raw](const std::string& text) { raw.options.workspace_root = text; },
         "folder with the workspaces (default: the current one)")
      ->type_name("DIR");
}

void add_json(CLI::App& app, RawOptions& raw) {
  app.add_flag("--json", raw.options.json, "for programs: JSON on standard output");
}

void add_gpu_ids(CLI::App& app, RawOptions& raw) {
  app.add_option_function<std::string>(
         "--gpu-ids", [&raw](const std::string& text) { raw.options.gpu_ids = text; },
         "GPUs to use: indexes, ranges, PCI addresses or unique ids, e.g. 0,2-3 (default: every usable one)")
      ->type_name("IDS");
}

void add_tasks_directory(CLI::App& app, RawOptions& raw) {
  app.add_option("--tasks-dir", raw.tasks_directory, "folder with the tasks (default: the project's)")
      ->type_name("DIR");
}

void add_run_options(CLI::App& app, RawOptions& raw) {
  Options& options = raw.options;
  app.add_option("--config,--config_name", raw.config, "run configuration (YAML); a resume remembers it")
      ->type_name("FILE");
  add_tasks_directory(app, raw);
  add_root(app, raw);
  app.add_option("--run-suffix", options.run_suffix, "appended to the new run's name")->type_name("TEXT");
  app.add_option("--run-name", options.run_name, "name of the new run: run_YYYYmmdd_HHMMSS[_suffix]")
      ->type_name("NAME");
  app.add_option("--resume-run", options.resume_run, "go on with this run")->type_name("RUN");
  app.add_flag("--resume-latest", options.resume_latest,
               "go on with the newest run below the workspace root");
  app.add_flag("--retry-failed", options.retry_failed,
               "with a resume: failed tasks too, with fresh attempts");
  app.add_option("--launcher", options.launcher,
                 "how workers are started: local, docker or podman (default: local)")
      ->type_name("KIND");
  add_gpu_ids(app, raw);
  app.add_flag("--allow-gpu-mismatch", options.allow_gpu_mismatch,
               "run although the GPUs are not of target_gpu_model's architecture");
  app.add_flag("--wait-for-gpu", options.wait_for_gpu, "wait for GPUs that another run uses");
  app.add_option("--cpu-slots", raw.cpu_slots,
                 "workers on this machine's CPU (default: one per core, for target CPU)")
      ->type_name("N");
  app.add_option("--max-attempts", raw.max_attempts, "executions of a task that infrastructure made fail")
      ->type_name("N");
  app.add_option("--halt", raw.halt, "now,fail=N or soon,fail=N: end after N failed tasks")
      ->type_name("WHEN");
  app.add_flag("--dry-run", options.dry_run, "print what would run, what is skipped and why; create nothing");
  app.add_flag("--no-preflight", options.no_preflight, "do not try the agent before the run");
  add_json(app, raw);
  add_common(app, raw);
}

CLI::App* add_command(CLI::App& app, RawOptions& raw, Command command, const std::string& name,
                      const std::string& help) {
  CLI::App* const sub = app.add_subcommand(name, help);
  sub->callback([&raw, command] { raw.options.command = command; });
  return sub;
}

void add_run_argument(CLI::App& sub, RawOptions& raw, bool required) {
  sub.add_option(
         "RUN", raw.options.run,
         required ? "a run directory or its name" : "a run directory or its name (default: the newest)")
      ->required(required)
      ->type_name("");
}

void add_commands(CLI::App& app, RawOptions& raw) {
  CLI::App* sub = add_command(app, raw, Command::status, "status", "show how far a run is");
  add_run_argument(*sub, raw, false);
  sub->add_flag("--watch", raw.options.watch, "keep showing until nothing works on the run any more");
  add_root(*sub, raw), add_json(*sub, raw), add_common(*sub, raw);

  sub = add_command(app, raw, Command::tasks, "tasks", "list the tasks that selectors name (default: all)");
  sub->add_option("SELECTOR", raw.options.names, "as in the configuration's `tasks`")->type_name("");
  add_tasks_directory(*sub, raw), add_json(*sub, raw), add_common(*sub, raw);

  sub = add_command(app, raw, Command::report, "report", "write a run's reports again and show them");
  add_run_argument(*sub, raw, true);
  add_root(*sub, raw), add_json(*sub, raw), add_common(*sub, raw);

  sub = add_command(app, raw, Command::retry, "retry",
                    "put tasks of a run back, failed or done; a resume then runs them");
  add_run_argument(*sub, raw, true);
  sub->add_option("TASK", raw.options.names, "task names, e.g. cpp2cpp/gelu")->required()->type_name("");
  add_root(*sub, raw), add_common(*sub, raw);

  sub = add_command(app, raw, Command::stop, "stop", "end a run; running tasks finish first");
  add_run_argument(*sub, raw, true);
  sub->add_flag("--now", raw.options.now,
                "do not let running tasks finish: end every worker and wait until it is gone");
  add_root(*sub, raw), add_common(*sub, raw);

  sub = add_command(app, raw, Command::gpus, "gpus", "list the GPUs and whether a worker could use each");
  sub->add_flag("--watch", raw.options.watch, "keep showing until Ctrl-C");
  add_gpu_ids(*sub, raw), add_json(*sub, raw), add_common(*sub, raw);

  sub = add_command(app, raw, Command::doctor, "doctor",
                    "what this machine has, what is missing and how to get it");
  add_root(*sub, raw), add_json(*sub, raw), add_common(*sub, raw);

  sub =
      add_command(app, raw, Command::clean, "clean", "remove old run directories; shows them and asks first");
  sub->add_option("RUN", raw.options.names, "run directories or names (default: all old ones)")
      ->type_name("");
  sub->add_option("--older-than", raw.older_than, "without RUN: those started so many days ago (default: 30)")
      ->type_name("DAYS");
  sub->add_flag("--yes", raw.options.yes, "do not ask");
  add_root(*sub, raw), add_common(*sub, raw);
}

void add_agent_commands(CLI::App& app, RawOptions& raw) {
  CLI::App* sub = add_command(app, raw, Command::check_agents, "check-agents",
                              "whether agents can work here: found, logged in, and answering");
  sub->add_option(
         "--agents", raw.options.agents,
         "names separated by commas, or all (default: the configuration's, else claude_code,codex,cursor)")
      ->type_name("NAMES");
  sub->add_option("--config,--config_name", raw.config, "run configuration whose settings are tried")
      ->type_name("FILE");
  add_json(*sub, raw), add_common(*sub, raw);

  sub = add_command(app, raw, Command::prompt, "prompt", "print the prompt an agent gets for a task");
  sub->add_option("TASK", raw.options.names, "task name, e.g. cpp2cpp/gelu")
      ->required()
      ->expected(1)
      ->type_name("");
  sub->add_option("--config,--config_name", raw.config, "run configuration")->required()->type_name("FILE");
  add_tasks_directory(*sub, raw), add_common(*sub, raw);
}

Result<std::optional<std::int64_t>> read_number(const std::string& flag, const std::string& text, bool given,
                                                std::int64_t least, std::int64_t most) {
  if (!given) return std::nullopt;
  const auto value = parse_integer(text);
  if (!value || *value < least || *value > most) {
    return fail(ErrorCode::invalid_input,
                fmt::format("{}: '{}' is no whole number from {} to {}", flag, text, least, most));
  }
  return value;
}

Status check_run_options(const Options& options) {
  const auto wrong = [](std::string message) { return fail(ErrorCode::invalid_input, std::move(message)); };
  const bool resumes = options.resume_latest || !options.resume_run.empty();
  if (options.resume_latest && !options.resume_run.empty())
    return wrong("give --resume-run or --resume-latest, not both");
  if (options.config.empty() && !resumes) {
    return wrong(
        "--config FILE is missing (or --resume-run RUN, --resume-latest, or a command: see arena-coord "
        "--help)");
  }
  if (resumes && !options.run_name.empty())
    return wrong("--run-name names a new run; it does not go with a resume");
  if (resumes && !options.run_suffix.empty())
    return wrong("--run-suffix names a new run; it does not go with a resume");
  if (!options.run_name.empty() && !options.run_suffix.empty())
    return wrong("give --run-name or --run-suffix, not both");
  if (options.retry_failed && !resumes)
    return wrong("--retry-failed goes with --resume-run or --resume-latest");
  if (!options.run_suffix.empty() && !is_valid_run_suffix(options.run_suffix)) {
    return wrong(fmt::format("--run-suffix: '{}' may only hold letters, digits, '.', '_' and '-'",
                             options.run_suffix));
  }
  if (!options.run_name.empty() && !run_timestamp_of(options.run_name)) {
    return wrong(
        fmt::format("--run-name: '{}' is not of the form run_YYYYmmdd_HHMMSS[_suffix]", options.run_name));
  }
  if (options.launcher == "docker" || options.launcher == "podman") {
    return wrong(fmt::format("--launcher: {} is not available in this build yet; use --launcher local",
                             options.launcher));
  }
  if (options.launcher != "local") {
    return wrong(fmt::format("--launcher: '{}' is unknown; it is local, docker or podman", options.launcher));
  }
  return {};
}

Status take_values(CLI::App& app, RawOptions& raw) {
  Options& options = raw.options;
  if (raw.quiet && raw.verbose) return fail(ErrorCode::invalid_input, "give -q or -v, not both");
  options.verbosity = raw.verbose ? 1 : raw.quiet ? -1 : 0;
  options.config = raw.config;
  options.tasks_directory = raw.tasks_directory;
  ARENA_ASSIGN(options.cpu_slots,
               read_number("--cpu-slots", raw.cpu_slots, app.count("--cpu-slots") > 0, 1, kMostSlots));
  ARENA_ASSIGN(options.max_attempts, read_number("--max-attempts", raw.max_attempts,
                                                 app.count("--max-attempts") > 0, 1, kMostAttempts));
  ARENA_ASSIGN(const std::optional<std::int64_t> days,
               read_number("--older-than", raw.older_than,
                           app.get_subcommand("clean")->count("--older-than") > 0, 0, 36500));
  if (days) options.older_than_days = *days;
  if (app.count("--halt") > 0) {
    ARENA_ASSIGN(options.halt, parse_halt_policy(raw.halt));
  }
  for (const char* flag :
       {"--config", "--tasks-dir", "--resume-run", "--workspace-root", "--run-name", "--run-suffix"}) {
    const CLI::Option* const option = app.get_option(flag);
    if (option->count() > 0 && option->results().back().empty()) {
      return fail(ErrorCode::invalid_input, fmt::format("{}: the value is empty", flag));
    }
  }
  if (options.gpu_ids && options.cpu_slots)
    return fail(ErrorCode::invalid_input, "give --gpu-ids or --cpu-slots, not both");
  return options.command == Command::run ? check_run_options(options) : Status{};
}

// A flag of a run before a subcommand would be ignored silently; only these mean something to both.
Status check_no_stray_flags(CLI::App& app) {
  if (app.get_subcommands().empty()) return {};
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() > 0 && name != "--workspace-root" && name != "--quiet" && name != "--verbose" &&
        name != "--json" && name != "--tasks-dir") {
      return fail(ErrorCode::invalid_input,
                  fmt::format("{} does not go with '{}'", name, app.get_subcommands().front()->get_name()));
    }
  }
  return {};
}

std::string unexpected_argument(CLI::App& app) {
  std::vector<std::string> extras = app.remaining(true);
  for (CLI::App* sub : app.get_subcommands()) {
    const std::vector<std::string> more = sub->remaining(true);
    extras.insert(extras.end(), more.begin(), more.end());
  }
  if (extras.empty()) return "an argument was not expected; see --help";
  const std::string word = extras.front().substr(0, extras.front().find('='));
  const bool is_flag = word.starts_with("-");
  std::vector<std::string> known;
  CLI::App& asked = app.get_subcommands().empty() ? app : *app.get_subcommands().front();
  for (const CLI::Option* option : asked.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  if (!is_flag) {
    known.clear();
    for (const CLI::App* sub : app.get_subcommands(nullptr)) known.push_back(sub->get_name());
  }
  const auto near = nearest_word(word, known);
  return fmt::format("{} '{}'{}; see --help", is_flag ? "unknown option" : "unexpected argument", word,
                     near ? fmt::format(", did you mean '{}'", *near) : "");
}

}  // namespace

Result<HaltPolicy> parse_halt_policy(const std::string& text) {
  HaltPolicy policy;
  const std::size_t comma = text.find(',');
  const std::string when = text.substr(0, comma);
  const std::string rest = comma == std::string::npos ? "" : text.substr(comma + 1);
  const std::int64_t failures = rest.starts_with("fail=") ? parse_integer(rest.substr(5)).value_or(0) : 0;
  if ((when != "now" && when != "soon") || failures < 1) {
    return fail(ErrorCode::invalid_input,
                fmt::format("--halt: '{}' is neither now,fail=N nor soon,fail=N with N from 1", text));
  }
  policy.now = when == "now";
  policy.failures = failures;
  return policy;
}

Result<ParsedOptions> parse_options(const std::vector<std::string>& arguments) {
  CLI::App app{"Runs AI coding agents against kernel optimization tasks and scores what they achieve.",
               "arena-coord"};
  RawOptions raw;
  app.set_version_flag("--version", "arena " ARENA_VERSION, "print the version");
  app.get_formatter()->column_width(34);
  add_run_options(app, raw);
  add_commands(app, raw);
  add_agent_commands(app, raw);
  app.require_subcommand(0, 1);
  app.footer(
      "A RUN is the path of a run directory or its name, looked for below --workspace-root.\n"
      "Exit codes: 0 all done; 1 a task failed or is unfinished; 2 usage or configuration; 130, 143 ended by "
      "a signal.\n"
      "  arena-coord --config example_configs/demo_cpu.yaml\n"
      "  arena-coord --resume-latest");
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    const auto subs = app.get_subcommands();
    return ParsedOptions{Answer{(subs.empty() ? app : *subs.front()).help()}, {}};
  } catch (const CLI::CallForVersion& error) {
    return ParsedOptions{Answer{std::string(error.what()) + "\n"}, {}};
  } catch (const CLI::ExtrasError&) {
    return fail(ErrorCode::invalid_input, unexpected_argument(app));
  } catch (const CLI::Error& error) {
    std::string message = error.what();
    message = message.substr(0, message.find('\n'));
    return fail(ErrorCode::invalid_input, message + "; see --help");
  }
  ARENA_TRY(check_no_stray_flags(app));
  ARENA_TRY(take_values(app, raw));
  return ParsedOptions{std::nullopt, raw.options};
}

}  // namespace arena
