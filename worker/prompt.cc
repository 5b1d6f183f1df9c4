#include "worker/prompt.h"

#include <fmt/format.h>

#include "base/placeholders.h"
#include "base/text.h"
#include "os/file_system.h"

namespace arena {

namespace {

// hip for hip2hip, what the task says for repositories; it picks the cheatsheet.
std::string language_of(const TaskSpec& spec) {
  if (!spec.repository_language.empty()) return spec.repository_language;
  const std::size_t arrow = spec.task_type.rfind('2');
  return arrow == std::string::npos ? "" : spec.task_type.substr(arrow + 1);
}

std::string bullets(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += fmt::format("\n- `{}`", item);
  return text;
}

class PromptBuilder {
 public:
  PromptBuilder(const fs::path& prompts, const PromptInput& input) : prompts_(prompts), input_(input) {
    values_ = {{"architecture", input.architecture},
               {"language", language_of(input.spec)},
               {"task_type", input.spec.task_type},
               {"workspace", input.workspace.string()},
               {"max_iterations", std::to_string(input.max_iterations.value_or(0))},
               {"budget_seconds", std::to_string(input.budget_seconds.value_or(0))},
               {"python", input.python_path}};
  }

  Result<std::string> build() {
    ARENA_TRY(persona());
    sources();
    if (input_.spec.task_type == "hip2hip") ARENA_TRY(add_text("contract_hip", Need::required));
    if (!input_.architecture.empty()) ARENA_TRY(add_text("architecture", Need::required));
    instructions();
    ARENA_TRY(add_text(input_.editable.empty() ? "protected_tree" : "protected_files", Need::required));
    const auto& output_format = input_.spec.prompt.output_format;
    if (output_format)
      add(*output_format);
    else
      ARENA_TRY(add_text("completion", Need::required));
    ARENA_TRY(cheatsheet());
    add(fmt::format("Your working directory is `{}`. Work only there.", input_.workspace.string()));
    if (input_.budget_seconds) ARENA_TRY(add_text("time_budget", Need::required));
    if (input_.max_iterations) ARENA_TRY(add_text("iterations", Need::required));
    if (!input_.python_path.empty()) ARENA_TRY(add_text("interpreter", Need::required));
    return std::move(prompt_);
  }

 private:
  enum class Need { required, optional };

  void add(std::string_view section) {
    section = trim(section);
    if (section.empty()) return;
    if (!prompt_.empty()) prompt_ += "\n\n";
    prompt_ += section;
    if (prompt_.back() != '\n') prompt_ += '\n';
  }

  // Nothing if the text is not there.
  Result<std::string> text(const std::string& name) {
    ARENA_ASSIGN(const std::string content, disk_.read(prompts_ / (name + ".md")));
    return expand_placeholders(content, values_);
  }

  Status add_text(const std::string& name, Need need) {
    const auto content = text(name);
    if (content)
      add(*content);
    else if (need == Need::required || content.error().code != ErrorCode::not_found)
      return fail(content.error());
    return {};
  }

  Status persona() {
    const std::string type = input_.spec.prompt.task_type.value_or(input_.spec.task_type);
    const bool plain_name =
        type.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    auto content = plain_name ? text("persona_" + type) : fail(ErrorCode::not_found, "");
    if (!content && content.error().code == ErrorCode::not_found) content = text("persona_generic");
    if (!content) return fail(content.error());
    add(*content);
    return {};
  }

  void sources() {
    const TaskSpec& spec = input_.spec;
    if (spec.prompt.source_code) return add(*spec.prompt.source_code);
    std::string section;
    if (!spec.source_files.empty()) section += "Source files:" + bullets(spec.source_files) + "\n";
    if (!spec.target_file.empty()) section += fmt::format("File to write: `{}`\n", spec.target_file);
    if (!spec.target_functions.empty())
      section += "Functions to optimize:" + bullets(spec.target_functions) + "\n";
    if (!input_.editable.empty()) section += "Files you may change:" + bullets(input_.editable) + "\n";
    if (!section.empty()) add("## Sources\n\n" + section);
  }

  void instructions() {
    const TaskSpec& spec = input_.spec;
    if (spec.prompt.instructions) add("## Task\n\n" + *spec.prompt.instructions);
    std::string commands;
    const auto list = [&commands](std::string_view title, const std::vector<std::string>& lines) {
      if (!lines.empty()) commands += fmt::format("{}:{}\n", title, bullets(lines));
    };
    list("Compile", spec.compile_commands);
    list("Check correctness", spec.correctness_commands);
    list("Measure performance", spec.performance_commands);
    if (!commands.empty()) add("## Commands\n\nThey run from the working directory.\n\n" + commands);
  }

  Status cheatsheet() {
    if (input_.spec.prompt.cheatsheet) {
      add(*input_.spec.prompt.cheatsheet);
      return {};
    }
    const std::string language = language_of(input_.spec);
    if (!input_.architecture.empty())
      ARENA_TRY(add_text("cheatsheet_" + input_.architecture, Need::optional));
    if (!language.empty()) ARENA_TRY(add_text("cheatsheet_" + language, Need::optional));
    return {};
  }

  const fs::path& prompts_;
  const PromptInput& input_;
  RealFileSystem disk_;
  PlaceholderValues values_;
  std::string prompt_;
};

}  // namespace

void use_settings(const AgentSettings& settings, PromptInput& input) {
  const bool by_time = settings.time_budget && settings.timeout_seconds.value_or(0) > 0;
  if (by_time) {
    input.budget_seconds = settings.timeout_seconds;
  } else {
    input.max_iterations = settings.max_iterations;
  }
  input.python_path = settings.python_path.value_or("");
}

Result<std::string> build_prompt(const fs::path& prompts, const PromptInput& input) {
  return PromptBuilder(prompts, input).build();
}

}  // namespace arena
