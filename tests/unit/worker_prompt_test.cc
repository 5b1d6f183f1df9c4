#include <doctest/doctest.h>

#include "base/text.h"
#include "worker/prompt.h"

namespace arena {

TEST_SUITE_BEGIN("worker");

namespace {

const fs::path kPrompts = fs::path(ARENA_TEST_DATA).parent_path().parent_path() / "worker" / "prompts";

TaskSpec spec_of(const std::string& type) {
  TaskSpec spec;
  spec.task_type = type;
  spec.source_files = {"src/k.cc"};
  spec.target_functions = {"kernel"};
  spec.compile_commands = {"make"};
  spec.correctness_commands = {"make check"};
  spec.performance_commands = {"make bench"};
  spec.repository_language = type == "repository" || type == "image_kernel" ? "hip" : "";
  return spec;
}

std::string prompt_of(const TaskSpec& spec, const std::string& architecture = "",
                      std::vector<std::string> editable = {"src/k.cc"},
                      std::optional<std::int64_t> iterations = {}, const std::string& python = "") {
  const auto prompt =
      build_prompt(kPrompts, {spec, architecture, "/w/task", std::move(editable), iterations, python});
  if (!prompt) FAIL(prompt.error().message);
  return *prompt;
}

// Are the parts all there, in this order?
bool in_order(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    at = text.find(part, at);
    if (at == std::string::npos) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the sections of a prompt come in v0.2's order") {
  const std::string prompt = prompt_of(spec_of("hip2hip"), "gfx942", {"src/k.cc"}, 3, "/opt/py");
  CHECK(in_order(prompt, {"# Your role", "## Sources", "src/k.cc", "kernel", "## What must stay", "gfx942",
                          "## Commands", "make", "make check", "make bench", "## What counts",
                          "## When you are done", "/w/task", "up to 3 versions", "/opt/py"}));
}

TEST_CASE("every task type has a persona, unknown ones the generic one") {
  const std::string generic = prompt_of(spec_of("fortran2zig"));
  CHECK(contains(generic, "performance engineer"));
  for (const char* type :
       {"hip2hip", "cuda2hip", "triton2triton", "instruction2triton", "torch2hip", "torch2flydsl",
        "triton2flydsl", "flydsl2flydsl", "repository", "image_kernel", "cpp2cpp"}) {
    const std::string prompt = prompt_of(spec_of(type));
    CHECK_MESSAGE(prompt.substr(0, 200) != generic.substr(0, 200), type);
  }
  CHECK(contains(prompt_of(spec_of("../../etc/passwd")), "performance engineer"));
}

TEST_CASE("a task's own texts take the place of ours") {
  TaskSpec spec = spec_of("cpp2cpp");
  spec.prompt.source_code = "int own_source{};";
  spec.prompt.instructions = "Own instructions with {braces}.";
  spec.prompt.cheatsheet = "Own cheatsheet.";
  spec.prompt.output_format = "Own output format.";
  const std::string prompt = prompt_of(spec);
  CHECK(in_order(prompt, {"int own_source{};", "Own instructions with {braces}.", "make check",
                          "Own output format.", "Own cheatsheet."}));
  CHECK_FALSE(contains(prompt, "## Sources"));
  CHECK_FALSE(contains(prompt, "## When you are done"));
  CHECK_FALSE(contains(prompt, "Reminders for C++"));
  CHECK(contains(prompt_of(spec_of("cpp2cpp")), "Reminders for C++"));
}

TEST_CASE("where the whole tree is the candidate, the prompt names what is protected") {
  CHECK(contains(prompt_of(spec_of("repository"), "", {}), "conftest.py"));
  CHECK_FALSE(contains(prompt_of(spec_of("cpp2cpp")), "conftest.py"));
}

TEST_CASE("a missing text is an error that names its file") {
  const TaskSpec spec = spec_of("cpp2cpp");
  const auto prompt = build_prompt("/nowhere", {spec, "", "/w", {}, {}, ""});
  REQUIRE_FALSE(prompt);
  CHECK(contains(prompt.error().message, "/nowhere/persona_"));
}

TEST_SUITE_END();

}  // namespace arena
