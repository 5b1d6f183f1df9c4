#include "model/task_spec.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/path.h"
#include "base/text.h"

namespace arena {

namespace {

using Strings = std::vector<std::string>;

std::string sample(const std::string& name) {
  std::ifstream file(std::string(ARENA_TEST_DATA) + "/fuzz/task_spec/" + name);
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TaskSpec parsed(const std::string& text, Strings* warnings = nullptr) {
  Strings local;
  const auto spec = parse_task_spec(text, "config.yaml", warnings != nullptr ? warnings : &local);
  if (!spec) FAIL(spec.error().message);
  CHECK(local == Strings{});
  return *spec;
}

std::string error_of(const std::string& text) {
  CAPTURE(text);
  const auto spec = parse_task_spec(text, "config.yaml", nullptr);
  REQUIRE_FALSE(spec);
  CHECK(spec.error().code == ErrorCode::invalid_input);
  CHECK(spec.error().message.substr(0, 12) == "config.yaml:");
  return spec.error().message;
}

constexpr const char* kV1 = "task_type: cpp2cpp\ncorrectness_command: check\nperformance_command: time\n";
std::string v1(const std::string& lines) { return kV1 + lines + "\n"; }

// The full sample of schema v2 with one piece replaced.
std::string v2(const std::string& from, const std::string& to) {
  std::string text = sample("v2_full.yaml");
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_SUITE_BEGIN("task_spec");

TEST_CASE("v1: a kernel with one source file") {
  const TaskSpec spec = parsed(sample("v1_hip2hip.yaml"));
  CHECK(spec.schema_version == 1);
  CHECK(spec.task_type == "hip2hip");
  CHECK(spec.source_files == Strings{"src/silu.hip"});
  CHECK(spec.target_file == "src/silu.hip");
  CHECK(spec.correctness_commands ==
        Strings{"python3 tools/check.py --reference ref/silu.py --candidate src/silu.hip"});
  CHECK(spec.prompt.instructions == "Make the kernel faster without changing what it computes.");
  CHECK_FALSE(spec.prompt.cheatsheet);
  CHECK(spec.platform.required_arch == Strings{"gfx942"});
  CHECK(editable_files(spec) == Strings{"src/silu.hip"});
  CHECK(spec.unsupported.empty());
}

TEST_CASE("v1: a task from instructions has no sources, so the whole tree is the candidate") {
  const TaskSpec spec = parsed(sample("v1_instruction2triton.yaml"));
  CHECK(spec.source_files.empty());
  CHECK(editable_files(spec).empty());
  CHECK(spec.compile_commands == Strings{"python -c \"import ast; ast.parse(open('flip.py').read())\""});
  CHECK(spec.prompt.instructions ==
        "\nWrite `flip`.\n\n1.  Keep the signature.\n```python\n<CODE>\n```\n    \"\"\"\n");
}

TEST_CASE("v1: repository and image tasks") {
  const TaskSpec repository = parsed(sample("v1_repository.yaml"));
  CHECK(repository.repository.url == "https://example.org/sorting.git");
  CHECK(repository.repository.revision == "0123456789abcdef0123456789abcdef01234567");
  CHECK(repository.repository.subdirectory == "lib/sorting");
  CHECK(repository.repository.post_clone_install.size() == 2);
  CHECK(repository.repository.install_every_setup);
  CHECK(repository.compile_timeout == std::chrono::hours(2));
  CHECK(repository.compile_commands == Strings{"cmake --build build"});
  CHECK(editable_files(repository).empty());
  CHECK(editable_files(parsed("task_type: repository\nrepository_language: hip\nsource_file_path: a.hpp\n"
                              "correctness_command: c\nperformance_command: p\n"))
            .empty());

  const TaskSpec image = parsed(sample("v1_image_kernel.yaml"));
  CHECK(image.repository.image_path == "/opt/lib/ops");
  CHECK(image.repository.image_exclude == Strings{"build"});
  CHECK_FALSE(image.repository.install_every_setup);
  CHECK(image.platform.skip);
  CHECK(image.platform.skip_reason == "needs a newer image");
  CHECK(image.platform.required_arch == Strings{"gfx942", "gfx950"});
  CHECK(image.harness_path == "test_harness.py");
  CHECK(editable_files(image) == Strings{"ops/configs/gemm.csv", "ops/gemm.py"});
  CHECK(image.prompt.instructions == "First paragraph of it.\n\nSecond.");
}

TEST_CASE("v1: the target file or files win over the sources") {
  const TaskSpec spec = parsed(v1("source_file_path: [a.py]\ntarget_file_path: [./out//b.cpp, a.cpp]"));
  CHECK(spec.target_files == Strings{"out/b.cpp", "a.cpp"});
  CHECK(spec.target_file == "out/b.cpp");
  CHECK(editable_files(spec) == Strings{"a.cpp", "out/b.cpp"});
  CHECK(editable_files(parsed(v1("source_file_path: a.py\neditable_sources: [b.py, a.py]"))) ==
        Strings{"a.py", "b.py"});
}

TEST_CASE("v1: keys that authors add are warnings, as are odd platforms; the task runs") {
  Strings warnings;
  parsed(v1("my_note: x\ncompile_comand: make\nprompt: {instruction: x}"), &warnings);
  CHECK(warnings ==
        Strings{"config.yaml:6: prompt.instruction: unknown key; did you mean prompt.instructions?",
                "config.yaml:4: my_note: unknown key",
                "config.yaml:5: compile_comand: unknown key; did you mean compile_command?"});
  using Fault = std::pair<std::string, std::string>;  // line and problem
  for (const Fault& fault : std::vector<Fault>{
           {"platform_support: gfx942", "config.yaml:4: platform_support: expected keys"},
           {"platform_support: {status: broken}",
            "config.yaml:4: platform_support.status: unknown status 'broken'"},
           {"platform_support: {required_arch: 942}",
            "config.yaml:4: platform_support.required_arch: expected the name"},
           {"platform_support: {required_arch: {a: b}}",
            "config.yaml:4: platform_support.required_arch: expected the name"},
           {"platform_support: {arch: gfx942}", "config.yaml:4: platform_support.arch: unknown key"}}) {
    warnings.clear();
    const TaskSpec spec = parsed(v1(fault.first), &warnings);
    REQUIRE(warnings.size() == 1);
    CHECK(contains(warnings[0], fault.second));
    CHECK(platform_skip_reason(spec.platform, "").empty());
  }
  CHECK(parsed(v1("platform_support: {required_arch: ''}")).platform.required_arch.empty());
  CHECK(parsed(v1("platform_support:")).platform.required_arch.empty());
  warnings.clear();
  parsed("task_type: x2y\ncorrectness_command: c\n", &warnings);
  REQUIRE(warnings.size() == 1);
  CHECK(contains(warnings[0], "performance_command: missing"));
}

TEST_CASE("v1: what is wrong is an error that names line and key") {
  using Fault = std::pair<std::string, std::string>;  // line and problem
  for (const Fault& fault : std::vector<Fault>{
           {"source_file_path: ../x", "4: source_file_path: '../x' is not a path inside the task"},
           {"target_file_path: /etc/passwd", "4: target_file_path: "},
           {"target_file_path: 'a\\b'", "4: target_file_path: "},
           {"target_file_path: 'C:x'", "4: target_file_path: "},
           {"source_file_path: [a, '']", "4: source_file_path: must not be empty"},
           {"source_file_path: [a, ~]", "4: source_file_path: expected a list of texts"},
           {"source_file_path: {a: b}", "4: source_file_path: expected a list of texts"},
           {"harness_path: .", "4: harness_path: "},
           {"compile_command: [' ']", "4: compile_command: must not be empty"},
           {"compile_timeout: 0", "4: compile_timeout: expected a whole number from 1"},
           {"compile_timeout: 30s", "4: compile_timeout: expected a whole number, not '30s'"},
           {"compile_timeout: 1.5", "4: compile_timeout: "},
           {"repo_url: --upload-pack=x", "4: repo_url: "},
           {"repo_commit: main", "4: repo_commit: expected a commit"},
           {"repo_subdir: ../..", "4: repo_subdir: "},
           {"post_clone_install_mode: always",
            "4: post_clone_install_mode: expected after_clone or every_setup"},
           {"image_repo_path: opt/x", "4: image_repo_path: "},
           {"image_repo_path: /opt/../etc", "4: image_repo_path: "},
           {"repository_language: cobol", "4: repository_language: expected one of hip, triton"},
           {"prompt: text", "4: prompt: expected keys with values"},
           {"prompt: {instructions: [a]}", "4: prompt.instructions: expected a text"},
           {"schema_version: 3", "4: schema_version: expected 1 or 2"},
           {"schema_version: true", "4: schema_version: expected 1 or 2"},
           {"schema_version:", "4: schema_version: expected 1 or 2"},
           {"task_type: hip2hip", "4: duplicate key 'task_type'"}}) {
    CHECK(contains(error_of(v1(fault.first)), fault.second));
  }
  CHECK(
      contains(error_of("task_type: a/b\ncorrectness_command: c\n"), "1: task_type: 'a/b' is not the name"));
  CHECK(contains(error_of("correctness_command: c\n"), "1: task_type: required"));
  CHECK(contains(error_of("task_type: a\n"), "1: correctness_command: required"));
  CHECK(contains(error_of("task_type: a\ncorrectness_command: []\n"), "2: correctness_command: required"));
  CHECK(contains(error_of("task_type: image_kernel\nrepository_language: hip\ncorrectness_command: c\n"),
                 "image_repo_path: required"));
  CHECK(contains(error_of("task_type: repository\ncorrectness_command: c\n"),
                 "repository_language: expected one of"));
  CHECK(contains(error_of(""), "config.yaml:1: expected keys with values"));
  CHECK(contains(error_of("a: [\n"), "config.yaml:2: "));
}

TEST_CASE("v2: the smallest and the fullest task are understood, and said to be not runnable yet") {
  const TaskSpec small = parsed(sample("v2_minimal.yaml"));
  CHECK(small.schema_version == 2);
  CHECK(contains(small.unsupported, "arena-eval-v1"));
  CHECK(editable_files(small) == Strings{"src/softmax.hip"});

  const TaskSpec full = parsed(sample("v2_full.yaml"));
  REQUIRE(full.editable.size() == 3);
  CHECK(full.editable[1].kind == EditableScope::Kind::tree);
  CHECK(full.editable[2].kind == EditableScope::Kind::symbols);
  CHECK(full.editable[2].symbols == Strings{"scale", "mask"});
  CHECK(full.editable[2].allow_new_helpers);
  CHECK(full.source_files == Strings{"baseline/attention.hip"});
  CHECK(full.target_functions == Strings{"attention"});
  CHECK(full.platform.required_arch == Strings{"gfx942", "gfx950"});
}

TEST_CASE("v2: every rule of the schema is checked") {
  struct Case {
    std::string from, to, problem;
  };
  for (const Case& c : std::vector<Case>{
           {"description: ", "descripton: ", "2: descripton: unknown key; did you mean description?"},
           {"description: Everything that the second schema has.", "description: ''",
            "2: description: must not be empty"},
           {"[docs/task.md]", "[./docs/task.md]",
            "3: instructions: './docs/task.md' is not a normalized path"},
           {"[docs/task.md]", "docs/task.md", "3: instructions: expected a list"},
           {"source_owner: example", "owner: example", "4: kernel_identity.owner: unknown key"},
           {"  language: triton\n", "", "candidate.language: required"},
           {"initial_state: implemented", "initial_state: empty",
            "7: candidate.initial_state: expected one of implemented, unimplemented"},
           {"initial_state: implemented", "initial_state: unimplemented",
            "8: candidate.initial_language: makes no sense"},
           {"    - src/attention.py\n", "    - src/attention.py\n    - src/../x.py\n",
            "11: candidate.editable: 'src/../x.py'"},
           {"    - src/attention.py\n", "    - src/attention.py\n    - src/tuning/x.py\n", "overlap"},
           {"    - src/attention.py\n", "    - src/attention.py\n    - src/attention.py\n", "overlap"},
           {"    - src/attention.py\n", "    - src/attention.py\n    - config.yaml\n",
            "covers 'config.yaml'"},
           {"    - src/attention.py\n", "    - src/attention.py\n    - workloads.yaml\n",
            "covers 'workloads.yaml'"},
           {"    - src/attention.py\n", "    - src/attention.py\n    - {path: baseline, scope: tree}\n",
            "covers 'baseline/attention.hip'"},
           {"    - src/attention.py\n", "    - src/attention.py\n    - {path: docs, scope: tree}\n",
            "covers 'docs/task.md'"},
           {"scope: tree", "scope: folder", "candidate.editable[1].scope: expected one of"},
           {"scope: tree", "scope: tree, symbols: [a]",
            "candidate.editable[1].symbols: belongs to the scope symbols"},
           {"scope: tree", "allow_new_helpers: false", "candidate.editable[1].allow_new_helpers: belongs to"},
           {"symbols: [scale, mask]", "symbols: [scale, scale]",
            "candidate.editable[2].symbols: expected at least one name and none twice"},
           {"symbols: [scale, mask], ", "", "candidate.editable[2].symbols: expected at least one"},
           {"kind: function, symbol: attention", "kind: function",
            "candidate.entrypoints[0].symbol: required"},
           {"kind: executable", "kind: executable, symbol: x",
            "candidate.entrypoints[1].symbol: an executable has no symbol"},
           {"kind: executable", "kind: module", "candidate.entrypoints[1].kind: expected one of"},
           {"{file: src/tuning/run, kind: executable}",
            "{file: src/attention.py, kind: function, symbol: attention}", "given twice"},
           {"file: src/tuning/run", "file: src/run",
            "candidate.entrypoints[1].file: 'src/run' is not in candidate.editable"},
           {"kind: provided", "kind: other", "baseline.kind: expected one of"},
           {"  diagnostic_reason: known to differ in the last digit\n", "",
            "baseline.diagnostic_reason: required"},
           {"correctness_policy: diagnostic", "correctness_policy: required",
            "baseline.diagnostic_reason: belongs to"},
           {"timeout_s: 900", "timeout_s: 0", "evaluation.timeout_s: expected a whole number from 1"},
           {"timeout_s: 900", "timeout_s: true", "evaluation.timeout_s: expected a whole number"},
           {"timeout_s: 900", "runner: python3 run.py", "evaluation.runner: expected a list of words"},
           {"timeout_s: 900", "runner: []", "evaluation.runner: expected a list of words"},
           {"  task: {commands: [[python3, check.py]]}\n", "",
            "evaluation.runner: required unless each of the seven"},
           {"[[python3, check.py]]", "[python3, check.py]",
            "evaluation.task.commands: expected a list of words"},
           {"[[python3, check.py]]", "[]", "evaluation.task.commands: expected a list of commands"},
           {"compile: {commands: [[make, baseline]]", "build: {commands: [[make, baseline]]",
            "evaluation.baseline.build: unknown key"},
           {"kind: serving", "kind: other", "evaluation.measurement.kind: expected one of serving"},
           {"pairs: 5", "pairs: 0", "evaluation.measurement.pairs: "},
           {"40.5", "-1", "evaluation.measurement.max_p99_tpot_ms: "},
           {"destination: third/x", "destination: third/lib/x",
            "workspace.sources[1].destination: 'third/lib' and 'third/lib/x' are nested"},
           {"image_path: /opt/lib", "image_path: opt/lib", "workspace.sources[0].image_path: "},
           {"revision: 0123456789abcdef0123456789abcdef01234567", "revision: main",
            "workspace.sources[1].revision: expected a commit"},
           {"kind: git", "kind: svn", "workspace.sources[1].kind: expected one of image, git"},
           {"[[make, -C, third/x]]", "[make]", "workspace.setup: expected a list of words"},
           {"status: active", "status: skip", "platform_support.skip_reason: required"},
           {"status: active", "status: off", "platform_support.status: expected one of active, skip"},
           {"required_arch: [gfx942, gfx950]", "required_arch: [gfx942, gfx942]",
            "platform_support.required_arch: expected exact names"},
           {"required_arch: [gfx942, gfx950]", "required_arch: gfx9*",
            "platform_support.required_arch: expected exact names"},
           {"required_arch: [gfx942, gfx950]", "required_arch: []",
            "platform_support.required_arch: expected exact names"},
           {"evaluation_tools: {}", "evaluation_tools: [x]", "evaluation_tools: expected keys"},
           {"command: [make, export]", "command: make export",
            "exports[0].command: expected a list of words"},
           {"    - {path: src/tuning, scope: tree}\n", "    -\n",
            "candidate.editable[1]: expected keys with values"},
       }) {
    const std::string message = error_of(v2(c.from, c.to));
    CAPTURE(c.problem);
    CAPTURE(message);
    CHECK(contains(message, c.problem));
  }
  CHECK(contains(error_of("schema_version: 2\nevaluation: {runner: [a]}\n"), "candidate: required"));
  CHECK(contains(error_of("schema_version: 2\ncandidate: {language: hip, editable: [a]}\n"),
                 "evaluation: required"));
  CHECK(contains(
      error_of("schema_version: 2\ncandidate: {language: hip, editable: []}\nevaluation: {runner: [a]}\n"),
      "2: candidate.editable: "));
  CHECK(contains(
      error_of("schema_version: 2\ncandidate: {language: hip, editable: [a], initial_state: unimplemented}\n"
               "baseline: {kind: initial_candidate}\nevaluation: {runner: [a]}\n"),
      "baseline.kind: an unimplemented candidate is no baseline"));
}

TEST_CASE("the platform filter") {
  PlatformSupport platform;
  CHECK(platform_skip_reason(platform, "").empty());
  CHECK(platform_skip_reason(platform, "gfx942").empty());
  platform.required_arch = {"gfx942"};
  CHECK(platform_skip_reason(platform, "gfx942").empty());
  CHECK(platform_skip_reason(platform, "gfx950") == "needs gfx942, here is gfx950");
  CHECK(platform_skip_reason(platform, "") == "needs gfx942, and no GPU architecture is known here");
  CHECK_FALSE(platform_skip_reason(platform, "gfx942:xnack+").empty());
  platform.required_arch = {"gfx942", "gfx950"};
  CHECK(platform_skip_reason(platform, "gfx950").empty());
  CHECK(platform_skip_reason(platform, "gfx90a") == "needs gfx942 or gfx950, here is gfx90a");
  platform.skip = true;
  CHECK(platform_skip_reason(platform, "gfx942") == "the task says skip");
  platform.skip_reason = "broken driver";
  CHECK(platform_skip_reason(platform, "gfx942") == "the task says skip: broken driver");
}

TEST_CASE("a task configuration cut at any byte gives a task or an error with a line") {
  for (const char* name :
       {"v1_hip2hip.yaml", "v1_instruction2triton.yaml", "v1_image_kernel.yaml", "v2_full.yaml"}) {
    const std::string text = sample(name);
    for (std::size_t length = 0; length < text.size(); ++length) {
      const auto spec = parse_task_spec(text.substr(0, length), "config.yaml", nullptr);
      if (!spec) CHECK(spec.error().message.substr(0, 12) == "config.yaml:");
    }
  }
}

TEST_SUITE_END();

}  // namespace arena
