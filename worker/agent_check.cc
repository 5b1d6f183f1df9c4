#include "worker/agent_check.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "os/environment.h"
#include "os/tree.h"
#include "worker/agent.h"
#include "worker/agent_home.h"
#include "worker/agent_judgement.h"
#include "worker/redaction.h"
#include "worker/task_commands.h"

namespace arena {

namespace {

constexpr const char* kProbePrompt = "This is a test of the connection. Reply with the single word: ready\n";

std::string first_line(const std::string& text) {
  const std::string shown = to_printable_utf8(trim(text).substr(0, 400));
  return shown.substr(0, shown.find('\n'));
}

bool is_true(const std::string& output, const std::string& field) {
  const auto json = nlohmann::json::parse(output, nullptr, false);
  return scalar_at(json, field) == "true";
}

class Check {
 public:
  Check(ProcessRunner& runner, const AgentSpec& spec, const AgentSettings& settings,
        const EnvironmentMap& environment, const fs::path& user_home, const fs::path& scratch)
      : runner_(runner),
        spec_(spec),
        settings_(settings),
        caller_(environment),
        user_home_(user_home),
        scratch_(scratch) {}

  std::vector<AgentFinding> run() {
    if (const Status prepared = prepare(); !prepared) {
      findings_.push_back({"home", false, prepared.error().message, "free space, or mend its permissions"});
      return std::move(findings_);
    }
    bool well = program();
    for (const AgentCheck& check : spec_.requires_all) well = well && required(check);
    // An API key is no login, and some programs do not count it as one; the answer shows what it is worth.
    well = well && (!spec_.login || has_api_key(spec_, environment_) || required(*spec_.login));
    if (well && spec_.probe) answer();
    for (std::string& note : notes_) findings_.push_back({"note", true, std::move(note), ""});
    return std::move(findings_);
  }

 private:
  Status prepare() {
    RealFileSystem disk;
    ARENA_ASSIGN(base_, private_environment(scratch_ / "home"));
    base_.merge(select_environment(caller_, basic_environment_names()));
    base_.merge(select_environment(caller_, device_environment_names()));
    home_ = base_["HOME"];
    environment_ = agent_environment(spec_, settings_, caller_, base_, home_);
    for (const char* name : {"workspace", "agent", "output"})
      ARENA_TRY(make_directories(disk, scratch_ / name));
    ARENA_ASSIGN(AgentHome home, furnish_agent_home(spec_, user_home_, home_, environment_));
    std::vector<std::string> secrets = secrets_of(environment_);
    secrets.insert(secrets.end(), home.secrets.begin(), home.secrets.end());
    redactor_ = Redactor(secrets);
    notes_ = std::move(home.notes);
    return {};
  }

  struct Told {
    bool ok = false;
    std::string end;
    std::string output;
  };
  Told ask(const std::vector<std::string>& argv) {
    ProcessSpec process;
    process.argv = argv;
    process.environment = environment_;
    process.working_directory = scratch_ / "workspace";
    process.output_file = scratch_ / "said";
    process.output_limit = 1 << 20;
    process.time_limit = kAgentCheckLimit;
    const auto outcome = runner_.run(process);
    if (!outcome) return {false, outcome.error().message, ""};
    return {outcome->succeeded(), describe(outcome->end),
            redactor_.redact(RealFileSystem().read(process.output_file).value_or(""))};
  }

  bool program() {
    if (spec_.version_argv.empty()) return true;
    const Told told = ask(spec_.version_argv);
    const std::string said = first_line(told.output);
    findings_.push_back({"program", told.ok, told.ok ? said : told.end + (said.empty() ? "" : ": " + said),
                         told.ok ? "" : spec_.program_mend});
    return told.ok;
  }

  bool required(const AgentCheck& check) {
    const Told told = ask(check.argv);
    const bool ok = told.ok && (check.true_field.empty() || is_true(told.output, check.true_field));
    const std::string said = first_line(told.output);
    findings_.push_back({check.what, ok, ok ? "" : said.size() > 2 ? said : told.end, ok ? "" : check.mend});
    return ok;
  }

  // What a run does, but with a question instead of a task.
  void answer() {
    RealFileSystem disk;
    AgentPlace place;
    for (const std::string& name : place_placeholder_names()) place.values[name] = "none";
    place.workspace = scratch_ / "workspace";
    place.prompt_file = scratch_ / "agent" / "prompt.md";
    place.values["workspace"] = place.workspace.string();
    place.values["prompt_file"] = place.prompt_file.string();
    place.values["output_dir"] = (scratch_ / "output").string();
    place.directory = scratch_ / "agent";
    place.home = home_;
    place.user_home = user_home_;
    place.environment = base_;
    AgentSettings settings = settings_;
    settings.timeout_seconds = kAgentCheckLimit.count();
    if (const Status written = publish(disk, place.prompt_file, kProbePrompt, Sync::no, Replace::yes);
        !written) {
      findings_.push_back({"answer", false, written.error().message, "free space"});
      return;
    }
    const auto run = run_agent(runner_, spec_, settings, caller_, place);
    if (!run) {
      findings_.push_back({"answer", false, run.error().message, spec_.program_mend});
      return;
    }
    const AgentJudgement judged = judge_agent(spec_, run->reading, run->end, false);
    const bool ok = judged.result == AgentResult::done_without_change;
    const std::string model = run->reading.model.empty() ? "" : "model " + run->reading.model;
    findings_.push_back({"answer", ok,
                         ok ? model : fmt::format("{}: {}", name_of(judged.result), judged.text),
                         ok ? "" : mend_of(judged.result)});
  }

  std::string mend_of(AgentResult result) const {
    switch (result) {
      case AgentResult::auth:
        return spec_.login ? spec_.login->mend : "log in";
      case AgentResult::quota:
        return "wait until the provider's limit is lifted, or use another account";
      case AgentResult::overload:
      case AgentResult::timed_out:
        return "see that the provider can be reached from here (network, proxy), and try again";
      default:
        return fmt::format("try it by hand: {}", fmt::join(spec_.version_argv, " "));
    }
  }

  ProcessRunner& runner_;
  const AgentSpec& spec_;
  const AgentSettings& settings_;
  const EnvironmentMap& caller_;
  const fs::path& user_home_;
  const fs::path& scratch_;
  EnvironmentMap base_;
  EnvironmentMap environment_;
  fs::path home_;
  Redactor redactor_;
  std::vector<std::string> notes_;
  std::vector<AgentFinding> findings_;
};

}  // namespace

Result<AgentSpec> load_agent(FileSystem& disk, const fs::path& data_directory,
                             const AgentSettings& settings) {
  const fs::path file = data_directory / "agents" / (settings.template_name + ".yaml");
  ARENA_ASSIGN(const std::string text, disk.read(file));
  ARENA_ASSIGN(AgentSpec spec, parse_agent_spec(text, settings.template_name));
  ARENA_TRY(check_agent_settings(spec, settings));
  return spec;
}

std::vector<AgentFinding> check_agent(ProcessRunner& runner, const AgentSpec& spec,
                                      const AgentSettings& settings, const EnvironmentMap& environment,
                                      const fs::path& user_home, const fs::path& scratch) {
  return Check(runner, spec, settings, environment, user_home, scratch).run();
}

std::string read_agent_version(ProcessRunner& runner, const AgentSpec& spec,
                               const EnvironmentMap& environment) {
  if (spec.version_argv.empty()) return "";
  std::string pattern = (fs::temp_directory_path() / "arena-version-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return "";
  AgentSpec only_version = spec;
  only_version.requires_all.clear();
  only_version.login.reset();
  only_version.probe = false;
  only_version.files.clear();
  const auto findings = check_agent(runner, only_version, {}, environment, {}, pattern);
  static_cast<void>(remove_tree(pattern));
  return !findings.empty() && findings.front().ok ? findings.front().detail : "";
}

}  // namespace arena
