#pragma once
// The prompt of a task: sections in v0.2's order, texts from worker/prompts/*.md. It is handed to the agent
// and kept beside the result, never logged.
#include <optional>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"
#include "model/run_config.h"
#include "model/task_spec.h"

namespace arena {

struct PromptInput {
  const TaskSpec& spec;
  std::string architecture;  // empty if unknown
  fs::path workspace;
  std::vector<std::string> editable;  // empty: everything but protected files
  std::optional<std::int64_t> max_iterations;
  std::string python_path;                                    // empty: whatever PATH gives
  std::optional<std::int64_t> budget_seconds = std::nullopt;  // named instead of a number of versions
};

// What the run's settings say in the prompt.
void use_settings(const AgentSettings& settings, PromptInput& input);

// `prompts` is the directory of the texts. persona_<type>.md is used if it is there, persona_generic.md
// otherwise; texts for an architecture or a language are optional.
Result<std::string> build_prompt(const fs::path& prompts, const PromptInput& input);

}  // namespace arena
