#include <sys/random.h>

#include <fmt/format.h>
#include <array>

#include "base/step.h"
#include "coordinator/agent_preflight.h"
#include "coordinator/commands.h"
#include "coordinator/descriptor_order.h"
#include "coordinator/planning.h"
#include "coordinator/run_directory.h"
#include "coordinator/run_lock.h"
#include "coordinator/session.h"
#include "coordinator/tool_versions.h"
#include "queue/queue_builder.h"

namespace arena {

namespace {

std::string random_run_id() {
  // Not std::random_device: libstdc++'s asks for a glibc newer than the programs need otherwise.
  std::array<unsigned, 2> bits{};
  ARENA_ASSERT(::getrandom(bits.data(), sizeof bits, 0) == static_cast<ssize_t>(sizeof bits));
  return fmt::format("{:08x}{:08x}", bits[0], bits[1]);
}

void print_plan(const PreparedRun& run, const Options& options, Console& console) {
  if (options.json) return console.result(format_plan_json(run.plan));
  console.result(format_plan(run.plan));
  console.result(fmt::format("agent {}, target {}, {} slots; nothing was created",
                             run.record.config.agent.template_name, run.record.config.target_gpu_model,
                             run.devices.size()));
}

void print_warnings(const PreparedRun& run, const Options& options, Console& console) {
  for (const std::string& warning : run.warnings) console.error("warning: " + warning);
  const std::vector<std::string>& more = run.plan.warnings;
  if (options.verbosity > 0) {
    for (const std::string& warning : more) console.error("warning: " + warning);
  } else if (!more.empty()) {
    console.error(fmt::format("warning: {} remarks on task configurations; -v shows them", more.size()));
  }
}

// run.yaml first: from then on the run can be resumed, whatever of its queue is there.
Result<Session> create_run(PreparedRun run, const Options& options, World& world) {
  RunRecord& record = run.record;
  const WallTime now = world.clock.now();
  ARENA_ASSIGN(const fs::path directory,
               create_run_directory(world.disk, options.workspace_root, record.config, options.run_name,
                                    options.run_suffix, now));
  const QueueLayout layout(directory);
  step("run.created");
  record.run_id = random_run_id();
  record.run_name = layout.run_name();
  record.created_at = format_utc(now);
  record.tool_versions = read_tool_versions();
  record.tool_versions.merge(run.driver_versions);
  ARENA_TRY(publish(world.disk, layout.run_record(), write_run_record(record), Sync::yes, Replace::no));
  step("run.recorded");
  ARENA_ASSIGN(const FileLock building, lock_unbuilt_run(layout));
  ARENA_TRY(build_queue(world.disk, layout, fresh_descriptors(record, layout)));
  ARENA_ASSIGN(FileLock lock, lock_run(layout));
  return Session{layout, std::move(record), std::move(lock), std::move(run.devices),
                 std::move(run.environment_names)};
}

}  // namespace

int start_run(const Options& options, World& world) {
  auto run = prepare_new_run(options, world);
  if (!run) return report_error(run.error(), world.console);
  print_warnings(*run, options, world.console);
  if (options.dry_run) {
    print_plan(*run, options, world.console);
    return kAllDone;
  }
  if (run->record.tasks.empty()) {
    return report_error({ErrorCode::invalid_input,
                         "no task is left to run: all selected ones are skipped (--dry-run tells why)"},
                        world.console);
  }
  if (!run->record.skipped.empty()) {
    world.console.error(
        fmt::format("warning: {} tasks are skipped (--dry-run tells why)", run->record.skipped.size()));
  }
  if (const Status ready = preflight(run->record.config, world, options); !ready)
    return report_error(ready.error(), world.console);
  auto session = create_run(std::move(*run), options, world);
  if (!session) return report_error(session.error(), world.console);
  if (!options.json) {
    world.console.line(fmt::format("run {}: {} tasks on {} slots", session->layout.run_directory().string(),
                                   session->record.tasks.size(), session->devices.size()));
  }
  return carry_out(std::move(*session), options, world);
}

}  // namespace arena
