#include "worker/task_run.h"

#include <fmt/format.h>

#include "base/sealed_text.h"
#include "base/step.h"
#include "os/environment.h"
#include "worker/published_workspace.h"
#include "worker/repository.h"

namespace arena {

namespace {

EnvironmentMap visible_environment(const EnvironmentMap& environment) {
  EnvironmentMap visible = select_environment(environment, basic_environment_names());
  visible.merge(select_environment(environment, device_environment_names()));
  return visible;
}

// A clone may have to go through a proxy; the address can hold a password, so that nothing else gets it.
const std::vector<std::string> kProxyNames = {"http_proxy", "https_proxy", "no_proxy",
                                              "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"};
constexpr const char* kSetupSide = "setup";

}  // namespace

TaskRun::TaskRun(const WorkerSetup& setup, const QueueLayout& layout, FileSystem& disk, Clock& clock,
                 ProcessRunner& runner, const TaskDescriptor& descriptor, AttemptHooks hooks)
    : setup_(setup),
      telemetry_(setup.arena_probe, setup.assigned.device(), setup.environment),
      layout_(layout),
      disk_(disk),
      clock_(clock),
      runner_(runner),
      descriptor_(descriptor),
      hooks_(std::move(hooks)),
      workspace_path_(layout.workspace(descriptor.task_name)),
      directory_{layout.attempt(descriptor.task_name, descriptor.attempt)},
      phase_start_(clock.steady_now()) {
  source_.tasks_directory = setup_.run.tasks_directory;
  source_.directory = source_.tasks_directory / descriptor_.task_name;
  facts_.run_id = descriptor_.run_id;
  facts_.task_name = descriptor_.task_name;
  facts_.attempt = descriptor_.attempt;
  facts_.task_digest = descriptor_.task_digest;
  facts_.worker_id = setup_.worker_id;
  facts_.device = setup_.device;
  facts_.device_facts = setup_.assigned.facts();
  facts_.agent_name = setup_.agent.name;
  facts_.formula = setup_.run.config.score_formula;
}

AttemptOutcome TaskRun::run() {
  const Status performed = perform();
  AttemptOutcome outcome = performed ? AttemptOutcome{} : outcome_of_error(phase_, performed.error());
  if (!performed && agent_stop_) outcome = *agent_stop_;
  outcome.candidate_kept = candidate_.has_value();
  outcome.result_digest = result_digest_;
  if (!performed) {
    // Nothing of the attempt may run on when its task is given away.
    if (const auto ended = hooks_.end_processes(); !ended) outcome.processes_left = ended.error().message;
  }
  if (outcome.cause == CauseClass::completed || outcome.cause == CauseClass::cancelled || outcome.disk_full)
    clean_up();
  return outcome;
}

Status TaskRun::perform() {
  ARENA_TRY(prepare());
  ARENA_TRY(run_baseline());
  if (!candidate_) ARENA_TRY(run_agent_phase());
  ARENA_TRY(evaluate());
  return publish();
}

Status TaskRun::begin(AttemptPhase phase) {
  const SteadyTime now = clock_.steady_now();
  if (phase != phase_) {
    facts_.durations_ms[std::string(name_of(phase_))] =
        std::chrono::duration_cast<std::chrono::milliseconds>(now - phase_start_).count();
    phase_start_ = now;
    phase_ = phase;
  }
  return phase == AttemptPhase::publication ? Status() : hooks_.report(phase, {});
}

Status TaskRun::prepare() {
  ARENA_TRY(begin(AttemptPhase::setup));
  ARENA_TRY(
      archive_workspace(disk_, layout_, descriptor_.task_name, descriptor_.run_id, descriptor_.attempt));
  clean_up();
  ARENA_TRY(remove_tree(directory_.logs()));
  ARENA_TRY(make_directories(disk_, directory_.logs()));
  ARENA_TRY(remove_tree(directory_.agent()));
  ARENA_TRY(read_task());
  candidate_ = find_candidate(disk_, layout_, new_record());
  ARENA_TRY(obtain_seed());
  ARENA_TRY(make_workspace());
  step("attempt.setup");
  return {};
}

Status TaskRun::read_task() {
  ARENA_TRY(check_digest());
  const fs::path config = source_.directory / "config.yaml";
  ARENA_ASSIGN(const std::string text, disk_.read(config));
  std::vector<std::string> warnings;  // the coordinator has shown them when it planned the run
  ARENA_ASSIGN(spec_, parse_task_spec(text, config.string(), &warnings));
  if (!spec_.unsupported.empty())
    return fail(ErrorCode::unsupported, "not supported yet: " + spec_.unsupported);
  editable_ = editable_files(spec_);
  limits_ = limits_of(spec_, setup_.run.config);
  if (setup_.agent.action == AgentSpec::Action::apply_solution) {
    ARENA_ASSIGN(solution_files_, find_solution_files(source_.directory / "solution", editable_));
  }
  return {};
}

Status TaskRun::check_digest() {
  ARENA_ASSIGN(const std::string digest, digest_of(source_));
  if (digest == descriptor_.task_digest) return {};
  return fail(ErrorCode::refused,
              fmt::format("task '{}' is not what the run was planned with: its files have changed in '{}'",
                          descriptor_.task_name, source_.directory.string()));
}

Status TaskRun::obtain_seed() {
  const RepositorySource& repository = spec_.repository;
  if (!repository.image_path.empty()) {
    SeedTree seed{repository.image_path, repository.subdirectory, repository.image_exclude};
    if (seed.name.empty()) seed.name = fs::path(repository.image_path).filename().string();
    seed.excluded.push_back(".git");
    source_.seed = std::move(seed);
  } else if (!repository.url.empty()) {
    CommandSettings settings;
    settings.log_directory = directory_.logs();
    settings.output_limit = setup_.run.config.output_limit_bytes;
    ARENA_ASSIGN(settings.environment, environment_for(kSetupSide));
    RepositoryCache cache(runner_, disk_, setup_.cache_directory);
    ARENA_ASSIGN(const RepositoryClone clone,
                 cache.obtain(repository, settings, setup_.run.config.setup_timeout));
    const std::string& name = repository.subdirectory;
    source_.seed = SeedTree{clone.tree, name.empty() ? repository_name(repository.url) : name, {}};
  }
  return {};
}

Status TaskRun::make_copy(const fs::path& target, Solution solution) {
  ARENA_TRY(remove_tree(target));
  ARENA_TRY(copy_pristine(source_, target, solution));
  const RepositorySource& repository = spec_.repository;
  if (!repository.install_every_setup || repository.post_clone_install.empty() || !source_.seed) return {};
  CommandSettings settings{
      target / source_.seed->name, {}, directory_.logs(), setup_.run.config.output_limit_bytes, ""};
  ARENA_ASSIGN(settings.environment, environment_for(kSetupSide));
  return install_repository(runner_, repository, settings, setup_.run.config.setup_timeout,
                            "install_" + target.filename().string());
}

Status TaskRun::make_workspace() {
  ARENA_TRY(make_copy(workspace_path_, setup_.agent.sees_solution ? Solution::included : Solution::left_out));
  ARENA_ASSIGN(workspace_, DirectoryHandle::open(workspace_path_));
  return {};
}

Status TaskRun::run_baseline() {
  ARENA_TRY(begin(AttemptPhase::baseline));
  ARENA_TRY(make_copy(directory_.baseline(), Solution::left_out));
  ARENA_ASSIGN(TaskCommands commands, commands_in(directory_.baseline(), "baseline"));
  ARENA_ASSIGN(facts_.baseline, measure_baseline(commands, spec_, limits_));
  step("attempt.baseline");
  return {};
}

Status TaskRun::evaluate() {
  ARENA_TRY(begin(AttemptPhase::evaluation));
  ARENA_TRY(check_digest());
  facts_.candidate = candidate_->record;
  if (candidate_->record.attempt != descriptor_.attempt) {
    facts_.candidate.agent.from_earlier_attempt = true;
    ARENA_TRY(make_copy(directory_.evaluation(), Solution::left_out));
    ARENA_TRY(
        apply_candidate(*candidate_, workspace_path_));  // so that the workspace shows what was evaluated
  }
  ARENA_TRY(apply_candidate(*candidate_, directory_.evaluation()));
  ARENA_ASSIGN(TaskCommands commands, commands_in(directory_.evaluation(), "evaluation"));
  ARENA_ASSIGN(facts_.verdict, evaluate_candidate(commands, spec_, limits_, clock_));
  step("attempt.evaluated");
  return {};
}

Status TaskRun::publish() {
  ARENA_TRY(begin(AttemptPhase::publication));
  // What a sick device measured is no result: the task goes back.
  ARENA_TRY(setup_.assigned.check_health());
  const TaskResult result = make_result(facts_);
  const std::string text = write_task_result(result);
  const AttemptDirectory agent_directory{
      layout_.attempt(descriptor_.task_name, candidate_->record.attempt)};  // maybe an earlier one's
  ARENA_TRY(publish_results(*workspace_, directory_.logs(), agent_directory.agent(), facts_.baseline.cases,
                            facts_.verdict.performance.cases, text));
  // The result is synced in its directory; the directory's own name is only now.
  ARENA_TRY(disk_.sync_directory(layout_.run_directory()));
  step("result.written");
  result_digest_ = std::string(stated_seal(text));
  return {};
}

// A fresh home each time: nothing that an agent planted in one of them reaches a later phase.
Result<EnvironmentMap> TaskRun::environment_for(const std::string& side) {
  ARENA_TRY(remove_tree(directory_.home(side)));
  ARENA_TRY(make_directories(disk_, directory_.home(side)));
  ARENA_ASSIGN(EnvironmentMap environment, private_environment(directory_.home(side)));
  environment.merge(visible_environment(setup_.environment));
  if (side == kSetupSide) environment.merge(select_environment(setup_.environment, kProxyNames));
  apply_mask(setup_.assigned.mask(), environment);
  environment["ARENA_WORKER"] = setup_.run.run_id + "/" + setup_.worker_id;
  return environment;
}

Result<TaskCommands> TaskRun::commands_in(const fs::path& directory, const std::string& side) {
  CommandSettings settings;
  settings.directory = directory;
  ARENA_ASSIGN(settings.environment, environment_for(side));
  settings.log_directory = directory_.logs();
  settings.output_limit = setup_.run.config.output_limit_bytes;
  settings.python_path = setup_.run.config.agent.python_path.value_or("");
  settings.starting = [this](const fs::path& log) { return hooks_.report(phase_, log); };
  settings.timing_begins = [this] { telemetry_.start(); };
  settings.timing_ended = [this, side] {
    if (auto summary = telemetry_.stop()) facts_.telemetry[side] = std::move(*summary);
  };
  return TaskCommands(runner_, std::move(settings));
}

CandidateRecord TaskRun::new_record() const {
  CandidateRecord record;
  record.run_id = descriptor_.run_id;
  record.task_name = descriptor_.task_name;
  record.task_digest = descriptor_.task_digest;
  record.attempt = descriptor_.attempt;
  return record;
}

// What a failed attempt measured stays for inspection, until the next attempt of that number.
void TaskRun::clean_up() {
  for (const fs::path& path : {directory_.baseline(), directory_.evaluation(), directory_.root / "home",
                               directory_.agent_output(), directory_.candidate_being_built()}) {
    static_cast<void>(remove_tree(path));
  }
}

}  // namespace arena
