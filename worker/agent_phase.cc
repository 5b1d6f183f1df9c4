// The agent's phase of an attempt: prompt, run, proof that nothing of it is left, judgement, candidate.
#include <fmt/format.h>

#include <boost/algorithm/string/join.hpp>

#include "base/step.h"
#include "worker/agent_record.h"
#include "worker/changes_patch.h"
#include "worker/prompt.h"
#include "worker/task_run.h"

namespace arena {

namespace {

// An agent that finds no repository here would take the next one above for its own.
Status make_repository(FileSystem& disk, const fs::path& workspace) {
  const fs::path git = workspace / ".git";
  ARENA_ASSIGN(const bool there, disk.exists(git));
  if (there) return {};
  for (const char* directory : {"objects/info", "objects/pack", "refs/heads", "refs/tags"})
    ARENA_TRY(make_directories(disk, git / directory));
  ARENA_TRY(disk.create(git / "config",
                        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
                        "[user]\n\tname = agent\n\temail = agent@localhost\n",
                        Sync::no));
  return disk.create(git / "HEAD", "ref: refs/heads/main\n", Sync::no);
}

std::string joined(const fs::path& workspace, const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  paths.reserve(files.size());
  for (const std::string& file : files) paths.push_back((workspace / file).string());
  return boost::algorithm::join(paths, ",");
}

AttemptOutcome stopped(CauseClass cause, std::string_view what, const AgentJudgement& judgement) {
  AttemptOutcome outcome;
  outcome.cause = cause;
  outcome.message = fmt::format("agent: {}: {}", what, judgement.text);
  return outcome;
}

}  // namespace

Status TaskRun::run_agent_phase() {
  ARENA_TRY(begin(AttemptPhase::agent));
  ARENA_ASSIGN(const AgentRun agent, start_agent());
  step("attempt.agent");
  return publish_agents_work(agent);
}

Result<AgentRun> TaskRun::start_agent() {
  if (setup_.agent.action == AgentSpec::Action::none) {
    AgentRun idle;
    idle.done = "changed nothing";
    return idle;
  }
  if (setup_.agent.action == AgentSpec::Action::apply_solution) {
    return apply_solution(source_.directory / "solution", solution_files_, workspace_path_);
  }
  const RunConfig& config = setup_.run.config;
  ARENA_TRY(make_directories(disk_, directory_.agent()));
  ARENA_TRY(make_directories(disk_, directory_.agent_output()));
  ARENA_TRY(make_repository(disk_, workspace_path_));
  PromptInput input{spec_, setup_.run.architecture, workspace_path_, editable_, {}, ""};
  use_settings(with_defaults(setup_.agent, config.agent), input);
  ARENA_ASSIGN(const std::string prompt, build_prompt(setup_.data_directory / "prompts", input));
  ARENA_TRY(arena::publish(disk_, directory_.prompt(), prompt, Sync::no, Replace::yes));
  ARENA_ASSIGN(const AgentPlace place, agent_place());
  ARENA_TRY(hooks_.report(phase_, place.directory / kAgentLog));
  return run_agent(runner_, setup_.agent, config.agent, setup_.environment, place);
}

Result<AgentPlace> TaskRun::agent_place() {
  AgentPlace place;
  const std::string first = !spec_.source_files.empty() ? spec_.source_files[0] : spec_.target_file;
  place.values = {{"workspace", workspace_path_.string()},
                  {"prompt_file", directory_.prompt().string()},
                  {"task_name", descriptor_.task_name},
                  {"task_type", spec_.task_type},
                  {"architecture", setup_.run.architecture},
                  {"output_dir", directory_.agent_output().string()},
                  {"first_source", first},
                  {"sources", joined(workspace_path_, editable_)},
                  {"functions", boost::algorithm::join(spec_.target_functions, ",")},
                  {"harness", spec_.harness_path}};
  place.workspace = workspace_path_;
  place.prompt_file = directory_.prompt();
  place.directory = directory_.agent();
  place.user_home = setup_.user_home;
  place.output_limit = setup_.run.config.output_limit_bytes;
  ARENA_ASSIGN(place.environment, environment_for("agent"));
  place.home = place.environment["HOME"];
  return place;
}

// The evaluation's pristine copy is made before the candidate is read: it is what the agent's tree is
// compared with.
Status TaskRun::publish_agents_work(const AgentRun& agent) {
  ARENA_ASSIGN(const int ended, hooks_.end_processes());
  ARENA_TRY(make_copy(directory_.evaluation(), Solution::left_out));
  CandidateRecord record = new_record();
  record.proof =
      fmt::format("no process left ({}{})", setup_.reap_mode,
                  agent.left_processes || ended > 0 ? "; some had outlived the agent and were ended" : "");
  ARENA_ASSIGN(const TreeListing pristine, list_tree(directory_.evaluation()));
  ARENA_ASSIGN(const TreeListing found, list_tree(workspace_path_));
  record.takeover = plan_takeover(pristine, found, editable_, [this](const std::string& relative) {
    return !same_contents(directory_.evaluation(), workspace_path_, relative);
  });
  const bool changed = !record.takeover.changed.empty() || !record.takeover.removed.empty();
  const bool ran = setup_.agent.action == AgentSpec::Action::run;
  if (ran) {
    const AgentJudgement judgement = judge_agent(setup_.agent, agent.reading, agent.end, changed);
    ARENA_TRY(keep_record(agent, judgement, record.agent));
    ARENA_TRY(stop_for(consequence_of(setup_.agent, judgement.result, agent.reading, changed), judgement));
  } else {
    record.agent.end = agent.done;
    record.agent.ok = true;
    record.agent.result = name_of(changed ? AgentResult::done : AgentResult::done_without_change);
  }
  ARENA_ASSIGN(candidate_, publish_candidate(disk_, layout_, workspace_path_,
                                             directory_.candidate_being_built(), std::move(record)));
  if (!ran) return {};
  // For people only: no attempt fails for want of it.
  const Status patched = write_changes_patch(runner_, candidate_->record.takeover, directory_.evaluation(),
                                             candidate_->files, directory_.agent() / "changes.patch");
  const bool matters = !patched && (patched.error().code == ErrorCode::cancelled ||
                                    patched.error().code == ErrorCode::no_space);
  return matters ? patched : Status();
}

Status TaskRun::keep_record(const AgentRun& agent, const AgentJudgement& judgement, AgentOutcome& outcome) {
  const AgentSettings settings = with_defaults(setup_.agent, setup_.run.config.agent);
  outcome.end = judgement.text;
  outcome.result = name_of(judgement.result);
  outcome.ok = judgement.result == AgentResult::done || judgement.result == AgentResult::done_without_change;
  outcome.model = agent.reading.model.empty() ? settings.model.value_or("") : agent.reading.model;
  outcome.version = setup_.agent_version;
  outcome.duration_ms = agent.duration.count();
  AttemptCost cost{descriptor_.attempt, outcome.result, outcome.model, agent.reading.usage,
                   outcome.duration_ms};
  ARENA_ASSIGN(const CostRecord costs,
               add_cost(disk_, layout_.agent_cost(descriptor_.task_name), directory_.agent() / "cost.yaml",
                        descriptor_.task_name, setup_.agent.name, std::move(cost)));
  outcome.cost_usd = costs.total().cost_usd;
  outcome.tokens = costs.total().total_tokens();
  const std::string text = write_invocation(agent, judgement, setup_.agent, outcome.version, outcome.model);
  return arena::publish(disk_, directory_.agent() / "invocation.yaml", text, Sync::no, Replace::yes);
}

Status TaskRun::stop_for(AgentConsequence consequence, const AgentJudgement& judgement) {
  switch (consequence) {
    case AgentConsequence::evaluate:
      return {};
    case AgentConsequence::no_score:
      agent_stop_ = stopped(CauseClass::agent_error, "it left nothing to evaluate", judgement);
      agent_stop_->agent_was_empty = judgement.result == AgentResult::empty;
      break;
    case AgentConsequence::time_out:
      agent_stop_ = stopped(CauseClass::timed_out, "it did nothing in its time", judgement);
      break;
    case AgentConsequence::back_off:
      agent_stop_ = stopped(CauseClass::infra_error, "the provider is overloaded or out of reach", judgement);
      agent_stop_->provider_overloaded = true;
      break;
    case AgentConsequence::halt: {
      const bool is_quota = judgement.result == AgentResult::quota;
      agent_stop_ =
          stopped(CauseClass::quota, is_quota ? "the provider's limit is used up" : "the login was refused",
                  judgement);
      agent_stop_->halt_cause = name_of(judgement.result);
      break;
    }
  }
  return fail(ErrorCode::refused, agent_stop_->message);
}

}  // namespace arena
