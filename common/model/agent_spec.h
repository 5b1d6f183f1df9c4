#pragma once
// An agent as data: worker/agents/<name>.yaml, explained key by key in docs/agents.md. Adding an agent is
// writing a file, never code.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/placeholders.h"
#include "base/result.h"
#include "model/run_config.h"

namespace arena {

// What its output looks like; the readers are in worker/.
enum class AgentDialect { plain, claude, codex, cursor };

// How an agent's work ended. Frozen on disk (result, candidate record, cost record).
enum class AgentResult {
  done,                 // it said so, and changed something
  done_without_change,  // it worked and left the sources as they were
  timed_out,
  failed,    // the program failed or reported an error
  empty,     // "success" without a token, a tool call or a change: it did not work at all
  refusal,   // the model declined
  overload,  // the provider was overloaded or could not be reached
  quota,     // the provider's limit is used up
  auth,      // the login was refused
};
std::string_view name_of(AgentResult result);
std::optional<AgentResult> agent_result_from(std::string_view name);

// Words of a command line. An optional group (a list inside argv) is left out as a whole when one of its
// placeholders names a setting that is not set.
struct ArgvGroup {
  ArgvGroup(const char* word) : words{word} {}             // NOLINT(google-explicit-constructor)
  ArgvGroup(std::string word) : words{std::move(word)} {}  // NOLINT(google-explicit-constructor)
  explicit ArgvGroup(std::vector<std::string> group) : words(std::move(group)), optional(true) {}
  std::vector<std::string> words;
  bool optional = false;
};

// A file of the user's home that the agent gets a copy of, in its own home. The original is never written.
struct AgentFile {
  std::string path;                     // below the home directory
  bool login = false;                   // holds a login
  std::vector<std::string> blank_keys;  // JSON keys emptied in the copy: tokens that only one may use
};

// A command that has to succeed before the agent can work, and what mends it when it does not.
struct AgentCheck {
  std::string what;               // "Python package claude-agent-sdk"
  std::vector<std::string> argv;  // exit code 0 is success
  std::string true_field;         // and this field of the JSON it prints is true
  std::string mend;               // a command, or a sentence
};

// When `field` (dotted path) of an event of type `event` ("system.api_retry", "result") equals or contains
// one of the values, this is what the event means. Forgotten again when the agent makes progress after it.
struct OutcomeRule {
  AgentResult outcome = AgentResult::failed;
  std::string event;  // empty: any text the agent printed, and only if it did nothing else
  std::string field;
  std::vector<std::string> equals;
  std::vector<std::string> contains;
};

struct AgentStopStep {
  int signal = 0;
  std::int64_t wait_seconds = 5;
};

struct AgentSpec {
  std::string name;
  std::string description;
  enum class Action { none, apply_solution, run } action = Action::none;
  bool sees_solution = false;  // solution/ is part of its workspace (oracle only)
  std::vector<ArgvGroup> argv;
  bool argv_from_config = false;  // `argv: agent.command`
  bool prompt_on_stdin = true;    // else its command line names {prompt_file}
  AgentDialect dialect = AgentDialect::plain;
  std::vector<std::string> final_events;
  std::vector<OutcomeRule> outcomes;

  AgentSettings defaults;  // for what the configuration leaves open
  std::vector<std::string>
      accepted_settings;  // keys of AgentSettings that mean something to it; others are errors
  std::vector<std::string> environment_names;      // allow-list besides the basic one
  std::map<std::string, std::string> environment;  // fixed values; {home} is the agent's own
  std::vector<std::string> api_keys;               // variables of which one makes a login file unnecessary
  std::vector<AgentFile> files;
  std::vector<std::string> container_mounts;  // of the host, read-only: where its program lies

  std::int64_t default_timeout_seconds = 3600;  // 0: none, as in the next two
  std::int64_t idle_timeout_seconds = 0;        // without any output
  std::int64_t final_grace_seconds = 20;        // from its final event to its exit
  std::int64_t overload_delay_seconds = 30;     // after an overload, doubled each time, before the next task
  std::vector<AgentStopStep> stop;              // then KILL; empty: TERM, 5 s

  std::vector<std::string> version_argv;
  std::string program_mend;  // how to get the program
  std::optional<AgentCheck> login;
  std::vector<AgentCheck> requires_all;
  bool probe = false;  // check-agents lets it answer a one-line prompt
};

// `name` is the agent's name; messages name the file as <name>.yaml.
Result<AgentSpec> parse_agent_spec(std::string_view text, const std::string& name);

// `settings` with the agent's defaults for what is absent. An explicit null stays without a value.
AgentSettings with_defaults(const AgentSpec& spec, AgentSettings settings);

// Placeholders that come from the settings: {model}, {effort}, {max_iterations}, … each only if it is set.
PlaceholderValues setting_placeholders(const AgentSettings& settings);
// Those that come from the task, besides: {workspace}, {prompt_file}, {task_name}, {task_type},
// {architecture}, {output_dir}, {first_source}, {sources}, {functions}, {harness}, {home}.
const std::vector<std::string>& place_placeholder_names();

// The command line, groups left out or expanded. `place` has a value for every place_placeholder_names().
Result<std::vector<std::string>> make_agent_argv(const AgentSpec& spec, const AgentSettings& settings,
                                                 const PlaceholderValues& place);

// An error if `settings` asks for what this agent cannot take ("effort" for an agent without it), or if a
// word of its command line names a placeholder that has no value.
Status check_agent_settings(const AgentSpec& spec, const AgentSettings& settings);

}  // namespace arena
