#include "coordinator/planning.h"

#include <fmt/format.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/digest.h"
#include "base/text.h"
#include "coordinator/catalog.h"
#include "coordinator/gpu_choice.h"
#include "coordinator/task_digests.h"
#include "model/agent_spec.h"

namespace arena {

namespace {

Result<std::string> read_input(FileSystem& disk, const fs::path& file) {
  auto text = disk.read(file);
  // Whatever is wrong with a file that the user named is the user's to mend.
  if (!text) return fail(ErrorCode::invalid_input, text.error().message);
  return text;
}

Result<fs::path> tasks_directory_of(const fs::path& given) {
  boost::system::error_code error;
  const fs::path directory = fs::canonical(given, error);
  if (error || !fs::is_directory(directory, error)) {
    return fail(ErrorCode::invalid_input,
                fmt::format("there is no tasks directory '{}'; give --tasks-dir", given.string()));
  }
  return directory;
}

std::string known_agents(FileSystem& disk, const fs::path& directory) {
  std::string known;
  auto names = disk.list(directory);
  if (!names) return known;
  std::sort(names->begin(), names->end());
  for (const std::string& name : *names) {
    if (name.ends_with(".yaml")) known += (known.empty() ? "" : ", ") + name.substr(0, name.size() - 5);
  }
  return known;
}

// The worker checks again; but here nothing exists yet.
Result<AgentSpec> check_agent(FileSystem& disk, const fs::path& data, const AgentSettings& settings) {
  const fs::path file = data / "agents" / (settings.template_name + ".yaml");
  const auto text = disk.read(file);
  if (!text) {
    return fail(ErrorCode::invalid_input,
                fmt::format("agent.template: there is no agent '{}'; known are {}", settings.template_name,
                            known_agents(disk, data / "agents")));
  }
  ARENA_ASSIGN(AgentSpec spec, parse_agent_spec(*text, settings.template_name));
  ARENA_TRY(check_agent_settings(spec, settings));
  return spec;
}

bool wants_gpus(const Options& options, const RunConfig& config) {
  return !options.cpu_slots && !equals_ignoring_case(config.target_gpu_model, "CPU");
}

// Devices, and what follows from them for the plan: the architecture, which is the hardware's where there is
// any.
Status add_gpus(const Options& options, const World& world, PreparedRun& run) {
  RunRecord& record = run.record;
  ARENA_ASSIGN(const GpuView view, look_at_gpus(options, world.paths.probe));
  ARENA_TRY(check_gpus_for_run(view, options, record.config.target_gpu_model));
  for (const std::string& problem : view.inventory.problems) run.warnings.push_back(problem);
  for (const LeftOut& left : view.is_asked_for ? std::vector<LeftOut>() : view.selection.left_out)
    run.warnings.push_back(fmt::format("{} is left out: {}", describe(left.device), left.reason));
  for (const Device& device : view.selection.devices) {
    run.devices.push_back(identity_of(device));
    record.device_details.push_back(to_json(device).dump());
  }
  if (const std::string& arch = view.selection.devices.front().arch; !arch.empty())
    record.architecture = arch;
  run.driver_versions = view.versions;
  return {};
}

// Fills in everything but identity: what is asked, what is there.
Result<PreparedRun> prepare(const Options& options, const World& world, RunConfig config,
                            const fs::path& tasks_directory, const RunRecord* before) {
  PreparedRun run;
  boost::system::error_code ignored;
  if (!fs::exists(world.paths.worker, ignored)) {
    return fail(ErrorCode::invalid_input, fmt::format("there is no '{}': build or install the whole project",
                                                      world.paths.worker.string()));
  }
  if (options.max_attempts) config.max_attempts = *options.max_attempts;
  ARENA_ASSIGN(const AgentSpec agent, check_agent(world.disk, world.paths.data, config.agent));
  run.environment_names = agent.environment_names;
  run.environment_names.insert(run.environment_names.end(), config.agent.env.begin(), config.agent.env.end());

  RunRecord& record = run.record;
  ARENA_ASSIGN(const fs::path tasks, tasks_directory_of(tasks_directory));
  record.tasks_directory = tasks.string();
  record.config = std::move(config);
  record.architecture = architecture_of_model(record.config.target_gpu_model).value_or("");
  const bool on_gpus = wants_gpus(options, record.config);
  if (on_gpus) ARENA_TRY(add_gpus(options, world, run));
  static const std::vector<PlannedTask> kNone;
  const bool is_comparable = before != nullptr && before->architecture == record.architecture;
  ARENA_ASSIGN(const std::vector<CatalogTask> selected,
               load_catalog(tasks, record.config.tasks, is_comparable ? before->tasks : kNone));
  ARENA_ASSIGN(run.plan, make_run_plan(selected, record.architecture));
  add_task_digests(run.plan, tasks);
  if (!on_gpus) run.devices = cpu_slots(options, run.plan.tasks.size(), std::thread::hardware_concurrency());

  record.arena_version = ARENA_VERSION;
  record.config_file = options.config.string();
  record.launcher = options.launcher;
  record.devices = run.devices;
  record.config_digest = sha256_hex(canonical_text(record.config));
  record.tasks = run.plan.tasks;
  record.skipped = run.plan.skipped;
  return run;
}

Result<RunConfig> read_config(FileSystem& disk, const fs::path& file, std::vector<std::string>* warnings) {
  ARENA_ASSIGN(const std::string text, read_input(disk, file));
  return parse_run_config(text, file.string(), warnings);
}

// The devices a run had; of the same architecture as then, whatever the model's name says.
void remember_devices(const RunRecord& stored, Options& options) {
  if (stored.devices.empty() || is_cpu_slot(stored.devices.front())) {
    options.cpu_slots = static_cast<std::int64_t>(stored.devices.size());
    return;
  }
  options.remembered_gpus = stored.devices;
  options.allow_gpu_mismatch = true;  // decided when the run began; another architecture is a refused change
}

// The stored plan with what a resume may add to it: old indexes stay, whatever the order of names is now.
std::vector<PlannedTask> merged_tasks(const std::vector<PlannedTask>& before,
                                      const PlanComparison& differences) {
  std::vector<PlannedTask> tasks = before;
  for (const PlannedTask& repaired : differences.repaired) {
    const auto old = std::find_if(tasks.begin(), tasks.end(),
                                  [&](const PlannedTask& task) { return task.index == repaired.index; });
    if (old != tasks.end()) *old = repaired;
  }
  tasks.insert(tasks.end(), differences.added.begin(), differences.added.end());
  return tasks;
}

}  // namespace

std::vector<std::string> cpu_slots(const Options& options, std::size_t tasks, unsigned cores) {
  const std::int64_t usual =
      static_cast<std::int64_t>(std::min<std::size_t>(std::max(1U, cores), std::max<std::size_t>(1, tasks)));
  std::vector<std::string> devices;
  for (std::int64_t slot = 0; slot < options.cpu_slots.value_or(usual); ++slot)
    devices.push_back(cpu_slot_identity(slot));
  return devices;
}

Result<PreparedRun> prepare_new_run(const Options& options, const World& world) {
  std::vector<std::string> warnings;
  ARENA_ASSIGN(RunConfig config, read_config(world.disk, options.config, &warnings));
  const fs::path tasks =
      options.tasks_directory.empty() ? world.paths.data / "tasks" : options.tasks_directory;
  ARENA_ASSIGN(PreparedRun run, prepare(options, world, std::move(config), tasks, nullptr));
  run.warnings.insert(run.warnings.begin(), warnings.begin(), warnings.end());
  return run;
}

Result<PreparedResume> prepare_resume(const Options& options, const World& world, const RunRecord& stored) {
  std::vector<std::string> warnings;
  RunConfig config = stored.config;
  if (!options.config.empty()) {
    ARENA_ASSIGN(config, read_config(world.disk, options.config, &warnings));
    // Names of places are the run's own for good.
    config.workspace_directory_prefix = stored.config.workspace_directory_prefix;
    config.log_directory = stored.config.log_directory;
  }
  Options remembered = options;
  if (!options.cpu_slots && !options.gpu_ids) remember_devices(stored, remembered);
  const fs::path tasks =
      options.tasks_directory.empty() ? fs::path(stored.tasks_directory) : options.tasks_directory;
  PreparedResume prepared;
  ARENA_ASSIGN(prepared.run, prepare(remembered, world, std::move(config), tasks, &stored));
  prepared.run.warnings.insert(prepared.run.warnings.begin(), warnings.begin(), warnings.end());
  RunRecord& record = prepared.run.record;
  prepared.differences = compare_plans(stored, record);
  if (prepared.differences.is_refused()) {
    return fail(ErrorCode::refused, fmt::format("{} cannot be resumed: its results would be mixed with those "
                                                "of something else; undo this, or start a "
                                                "new run\n{}",
                                                stored.run_name, trim(prepared.differences.describe())));
  }
  record.run_id = stored.run_id;
  record.run_name = stored.run_name;
  record.created_at = stored.created_at;
  record.tool_versions = stored.tool_versions;
  if (record.config_file.empty()) record.config_file = stored.config_file;
  record.tasks = merged_tasks(stored.tasks, prepared.differences);
  return prepared;
}

}  // namespace arena
