#include "worker/repository.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "os/tree.h"
#include "worker/untrusted_tree.h"
#include "worker/workspace.h"

namespace arena {

namespace {

constexpr const char* kHeadFile = "HEAD.commit";

std::string cache_key(const RepositorySource& source) {
  Digest digest;
  digest.update_field(source.url);
  digest.update_field(source.revision);
  for (const std::string& line : source.post_clone_install) {
    if (!source.install_every_setup) digest.update_field(line);
  }
  return fmt::format("{}-{}", repository_name(source.url), digest.hex().substr(0, 16));
}

// A failed step of the set-up as an error: timed_out is kept apart from everything else.
Status status_of(const std::string& what, const CommandRun& run) {
  if (run.outcome.succeeded()) return {};
  const bool late = std::holds_alternative<TimedOut>(run.outcome.end);
  return fail(late ? ErrorCode::timed_out : ErrorCode::unsupported, explain_failure(what, run));
}

}  // namespace

Result<RepositoryClone> RepositoryCache::obtain(const RepositorySource& source,
                                                const CommandSettings& settings,
                                                std::chrono::milliseconds limit) {
  const fs::path entry = directory_ / cache_key(source);
  const fs::path tree = entry / "tree";
  if (auto head = disk_.read(entry / kHeadFile)) return RepositoryClone{tree, std::string(trim(*head))};

  const fs::path being_built = temporary_name(entry);
  ARENA_TRY(make_directories(disk_, being_built));
  const auto head = clone(source, being_built / "tree", settings, limit);
  Status built =
      head ? disk_.create(being_built / kHeadFile, *head + '\n', Sync::yes) : Status(fail(head.error()));
  if (built) built = disk_.rename(being_built, entry, Replace::no);
  if (!built) {
    ARENA_TRY(remove_tree(being_built));
    if (built.error().code != ErrorCode::exists) return fail(built.error());
  }
  ARENA_ASSIGN(const std::string kept, disk_.read(entry / kHeadFile));
  return RepositoryClone{tree, std::string(trim(kept))};
}

Result<std::string> RepositoryCache::clone(const RepositorySource& source, const fs::path& target,
                                           const CommandSettings& settings, std::chrono::milliseconds limit) {
  const fs::path parent = target.parent_path();
  if (source.revision.empty()) {
    ARENA_TRY(run_git({"clone", "--quiet", "--depth", "1", "--", source.url, target.string()}, parent,
                      "clone", settings, limit));
  } else {
    ARENA_TRY(run_git({"init", "--quiet", target.string()}, parent, "clone", settings, limit));
    ARENA_TRY(run_git({"fetch", "--quiet", "--depth", "1", "--", source.url, source.revision}, target,
                      "clone_2", settings, limit));
    ARENA_TRY(run_git({"checkout", "--quiet", "--detach", "FETCH_HEAD"}, target, "clone_3", settings, limit));
  }
  ARENA_TRY(run_git({"rev-parse", "HEAD"}, target, "clone_head", settings, limit));
  ARENA_ASSIGN(const std::string head, read_beneath(settings.log_directory, "clone_head.log", 4096));
  if (!source.install_every_setup) {
    CommandSettings inside = settings;
    inside.directory = target;
    ARENA_TRY(install_repository(runner_, source, inside, limit, "install"));
  }
  return std::string(trim(head));
}

Status RepositoryCache::run_git(const std::vector<std::string>& arguments, const fs::path& directory,
                                const std::string& log, const CommandSettings& settings,
                                std::chrono::milliseconds limit) {
  ProcessSpec spec;
  spec.argv = {"git"};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.environment = settings.environment;
  spec.environment["GIT_TERMINAL_PROMPT"] = "0";
  spec.working_directory = directory;
  spec.output_file = settings.log_directory / (log + ".log");
  spec.output_limit = settings.output_limit;
  spec.time_limit = limit;
  ARENA_ASSIGN(const ProcessOutcome outcome, runner_.run(spec));
  if (std::holds_alternative<Stopped>(outcome.end))
    return fail(ErrorCode::cancelled, "the worker was asked to stop");
  if (!outcome.succeeded() && is_disk_full(directory))
    return fail(ErrorCode::no_space, "cannot clone: the disk is full");
  const auto output = read_beneath(settings.log_directory, log + ".log", settings.output_limit + 4096);
  return status_of("git " + arguments.front(), {outcome, output.value_or("")});
}

Status install_repository(ProcessRunner& runner, const RepositorySource& source,
                          const CommandSettings& settings, std::chrono::milliseconds limit,
                          const std::string& log_name) {
  TaskCommands commands(runner, settings);
  for (std::size_t i = 0; i < source.post_clone_install.size(); ++i) {
    const std::string& line = source.post_clone_install[i];
    ARENA_ASSIGN(const CommandRun run, commands.run(line, numbered_log(log_name, i), limit));
    ARENA_TRY(status_of(line, run));
  }
  return {};
}

}  // namespace arena
