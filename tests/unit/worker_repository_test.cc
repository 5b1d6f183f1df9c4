// Tasks whose code comes from elsewhere: a clone, or a directory of the image.
#include <doctest/doctest.h>

#include "base/text.h"
#include "worker/repository.h"
#include "worker_fixture.h"

namespace arena {

TEST_SUITE_BEGIN("worker");

namespace {

using Names = std::vector<std::string>;

class RepositoryWorld : public WorkerWorld {
 public:
  void git(const std::string& arguments) {
    ProcessSpec spec;
    spec.argv = {"/bin/sh", "-c",
                 "git -c user.name=t -c user.email=t@t -c init.defaultBranch=main " + arguments};
    spec.environment = current_environment();
    spec.environment["HOME"] = root.string();
    spec.working_directory = root / "upstream" / "lib";
    spec.output_file = root / "git.log";
    const auto outcome = real_runner.run(spec);
    REQUIRE(outcome);
    INFO(read("git.log"));
    REQUIRE(outcome->succeeded());
  }
  void make_upstream() {
    write("upstream/lib/src/kernel.sh", "answer=42\ncost=8\n");
    write("upstream/lib/test/check.sh", shell_kernel_files().at("test/check.sh"));
    write("upstream/lib/test/time.sh", shell_kernel_files().at("test/time.sh"));
    git("init --quiet");
    git("add -A");
    git("commit --quiet -m first");
  }
  void change_upstream() {
    write("upstream/lib/src/kernel.sh", "answer=42\ncost=100\n");
    git("commit --quiet -am second");
  }
  std::string url() const { return "file://" + (root / "upstream" / "lib").string(); }
  Files task_files(const std::string& more = "") {
    return {{"config.yaml", "task_type: repository\nrepository_language: hip\nrepo_url: " + url() + "\n" +
                                more +
                                "compile_command: ['cd lib && sh -n src/kernel.sh']\n"
                                "correctness_command: ['cd lib && sh test/check.sh']\n"
                                "performance_command: ['cd lib && sh test/time.sh && cp -r build ..']\n"}};
  }
  RepositoryClone obtain(const RepositorySource& source) {
    CommandSettings settings;
    settings.environment = current_environment();
    settings.log_directory = root / "logs";
    fs::create_directories(settings.log_directory);
    const auto clone =
        RepositoryCache(runner, disk, root / "cache").obtain(source, settings, std::chrono::seconds(60));
    if (!clone) FAIL(clone.error().message);
    return *clone;
  }
};

const std::string kWorkspace = "ws/run_20261201_101500/repository_toy_20261201_101500/";

}  // namespace

TEST_CASE_FIXTURE(RepositoryWorld, "a repository task changes the clone, but never its tests") {
  make_upstream();
  add_task("repository/toy", task_files());
  use_agent(
      "echo 'answer=42; cost=2' > lib/src/kernel.sh; echo 'echo pass' > lib/test/check.sh; echo new > "
      "lib/src/new.h");
  const TaskResult result = complete("repository/toy");
  CHECK(result.speedup_ratio == doctest::Approx(4));
  CHECK(result.changed_files == Names{"lib/src/kernel.sh", "lib/src/new.h"});
  CHECK(result.ignored_changes == Names{"lib/test/check.sh"});
  CHECK_FALSE(exists("tasks/repository/toy/lib"));
}

TEST_CASE_FIXTURE(RepositoryWorld, "what was cloned first is what every later attempt gets") {
  make_upstream();
  add_task("repository/toy", task_files());
  use_nop();
  complete("repository/toy", 1);
  change_upstream();
  CHECK(complete("repository/toy", 2).base_execution_time == doctest::Approx(44));
}

TEST_CASE_FIXTURE(RepositoryWorld, "a pinned revision is that commit, whatever came after it") {
  make_upstream();
  RepositorySource source;
  source.url = url();
  const RepositoryClone first = obtain(source);
  change_upstream();
  source.revision = first.head;
  CHECK(first.head.size() == 40);
  const RepositoryClone pinned = obtain(source);
  CHECK(pinned.head == first.head);
  CHECK(pinned.tree != first.tree);
  CHECK(contains(disk.read(pinned.tree / "src/kernel.sh").value(), "cost=8"));
}

TEST_CASE_FIXTURE(RepositoryWorld,
                  "a clone that fails leaves nothing behind and is a task error with git's words") {
  add_task("repository/toy", task_files());
  use_nop();
  const AttemptOutcome outcome = attempt("repository/toy");
  CHECK(outcome.cause == CauseClass::task_error);
  CHECK(contains(outcome.message, "git clone"));
  CHECK(contains(outcome.message, "upstream/lib"));
  CHECK(fs::is_empty(root / "cache"));
}

TEST_CASE_FIXTURE(RepositoryWorld, "install lines run once in the clone, or in every copy") {
  make_upstream();
  const std::string count = (root / "installs").string();
  const std::string line =
      "post_clone_install: ['test -f src/kernel.sh && touch installed && echo x >> " + count + "']\n";
  use_nop();
  add_task("repository/toy", task_files(line));
  complete("repository/toy", 1);
  complete("repository/toy", 2);
  CHECK(read("installs") == "x\n");
  CHECK(exists(kWorkspace + "lib/installed"));

  add_task("repository/toy", task_files(line + "post_clone_install_mode: every_setup\n"));
  complete("repository/toy", 3);
  CHECK(read("installs") == "x\nx\nx\nx\n");  // workspace, baseline, evaluation
}

TEST_CASE_FIXTURE(RepositoryWorld, "a set-up that takes too long is timed out, one that fails a task error") {
  make_upstream();
  use_nop();
  setup.run.config.setup_timeout = std::chrono::seconds(1);
  add_task("repository/toy",
           task_files("post_clone_install: ['sleep 600']\npost_clone_install_mode: every_setup\n"));
  CHECK(attempt("repository/toy").cause == CauseClass::timed_out);
  setup.run.config.setup_timeout = std::chrono::seconds(60);
  add_task("repository/toy", task_files("post_clone_install: ['exit 3']\n"));
  const AttemptOutcome outcome = attempt("repository/toy");
  CHECK(outcome.cause == CauseClass::task_error);
  CHECK(contains(outcome.message, "exit code 3"));
}

TEST_CASE_FIXTURE(RepositoryWorld, "an image's tree is seeded without its excluded parts") {
  for (const char* file :
       {"keep.py", "jit/keep.py", "jit/build/drop.o", "a/__pycache__/drop.pyc", ".git/config"}) {
    write(fs::path("image/pkg") / file, "x\n");
  }
  fs::create_symlink("/nowhere/outside", root / "image/pkg/link");
  add_task(
      "image_kernel/toy",
      {{"config.yaml",
        "task_type: image_kernel\nrepository_language: hip\nimage_repo_path: " +
            (root / "image/pkg").string() +
            "\nrepo_subdir: lib\nimage_repo_exclude: [__pycache__, jit/build]\nsource_file_path: [keep.py]\n"
            "compile_command: ['test -f lib/keep.py']\ncorrectness_command: ['true']\n"
            "performance_command: ['echo Performance: 1 ms']\n"}});
  use_agent("echo faster > lib/keep.py");
  const TaskResult result = complete("image_kernel/toy");
  CHECK(result.changed_files == Names{"lib/keep.py"});
  const std::string workspace = "ws/run_20261201_101500/image_kernel_toy_20261201_101500/lib/";
  CHECK(exists(workspace + "jit/keep.py"));
  CHECK(exists(workspace + "link"));
  for (const char* file : {"jit/build", "a/__pycache__", ".git"})
    CHECK_MESSAGE(!exists(workspace + file), file);
}

TEST_CASE_FIXTURE(RepositoryWorld, "an image without the tree is a task error") {
  add_task("image_kernel/toy",
           {{"config.yaml",
             "task_type: image_kernel\nrepository_language: hip\nimage_repo_path: /nowhere/pkg\n"
             "compile_command: ['true']\ncorrectness_command: ['true']\n"
             "performance_command: ['true']\n"}});
  use_nop();
  const AttemptOutcome outcome = attempt("image_kernel/toy");
  CHECK(outcome.cause == CauseClass::task_error);
  CHECK(contains(outcome.message, "/nowhere/pkg"));
}

TEST_SUITE_END();

}  // namespace arena
