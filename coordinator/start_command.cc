#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <random>

#include "base/step.h"
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
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

void print_plan(const PreparedRun& run, const Options& options, Console& console) {
  const RunRecord& record = run.record;
  if (options.json) {
    nlohmann::ordered_json json;
    json["agent"] = record.config.agent.template_name;
    json["target_gpu_model"] = record.config.target_gpu_model;
    json["devices"] = run.devices;
    json["tasks"] = nlohmann::ordered_json::array();
    for (const PlannedTask& task : record.tasks) {
      json["tasks"].push_back({{"index", task.index}, {"name", task.name}, {"digest", task.digest}});
    }
    json["skipped"] = nlohmann::ordered_json::array();
    for (const SkippedTask& task : record.skipped) json["skipped"].push_back({{"name", task.name}, {"reason", task.reason}});
    console.result(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return;
  }
  for (const PlannedTask& task : record.tasks) console.result(fmt::format("run   {:06} {}", task.index, task.name));
  for (const SkippedTask& task : record.skipped) console.result(fmt::format("skip         {}: {}", task.name, task.reason));
  console.result(fmt::format("{} tasks to run, {} skipped, on {} slots, with agent {}; nothing was created", record.tasks.size(),
                             record.skipped.size(), run.devices.size(), record.config.agent.template_name));
}

// run.yaml first: from then on the run can be resumed, whatever of its queue is there.
Result<Session> create_run(PreparedRun run, const Options& options, World& world) {
  RunRecord& record = run.record;
  const WallTime now = world.clock.now();
  ARENA_ASSIGN(const fs::path directory, create_run_directory(world.disk, options.workspace_root, record.config, options.run_name,
                                                              options.run_suffix, now));
  const QueueLayout layout(directory);
  step("run.created");
  record.run_id = random_run_id();
  record.run_name = layout.run_name();
  record.created_at = format_utc(now);
  record.tool_versions = read_tool_versions();
  ARENA_TRY(publish(world.disk, layout.run_record(), write_run_record(record), Sync::yes, Replace::no));
  step("run.recorded");
  ARENA_ASSIGN(const FileLock building, lock_unbuilt_run(layout));
  ARENA_TRY(build_queue(world.disk, layout, fresh_descriptors(record, layout)));
  ARENA_ASSIGN(FileLock lock, lock_run(layout));
  return Session{layout, std::move(record), std::move(lock), std::move(run.devices), std::move(run.environment_names)};
}

}  // namespace

int start_run(const Options& options, World& world) {
  auto run = prepare_new_run(options, world);
  if (!run) return report_error(run.error(), world.console);
  for (const std::string& warning : run->warnings) world.console.error("warning: " + warning);
  if (options.dry_run) {
    print_plan(*run, options, world.console);
    return kAllDone;
  }
  for (const SkippedTask& task : run->record.skipped) world.console.error(fmt::format("skipped {}: {}", task.name, task.reason));
  if (run->record.tasks.empty()) {
    return report_error({ErrorCode::invalid_input, "no task is left to run: all selected ones are skipped"}, world.console);
  }
  auto session = create_run(std::move(*run), options, world);
  if (!session) return report_error(session.error(), world.console);
  if (!options.json) {
    world.console.line(fmt::format("run {}: {} tasks on {} slots", session->layout.run_directory().string(),
                                   session->record.tasks.size(), session->devices.size()));
  }
  return carry_out(std::move(*session), options, world);
}

}  // namespace arena
