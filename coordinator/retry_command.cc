#include <fmt/format.h>
#include <algorithm>

#include "base/text.h"
#include "coordinator/commands.h"
#include "coordinator/run_directory.h"
#include "coordinator/run_lock.h"
#include "coordinator/shell_command.h"
#include "queue/queue_builder.h"
#include "queue/queue_snapshot.h"

namespace arena {

namespace {

struct Place {
  QueueState state = QueueState::pending;
  EntryName name;
};

Result<Place> find_task(const std::string& task_name, const RunRecord& record,
                        const QueueSnapshot& snapshot) {
  const auto planned = std::find_if(record.tasks.begin(), record.tasks.end(),
                                    [&](const PlannedTask& task) { return task.name == task_name; });
  if (planned == record.tasks.end()) {
    std::vector<std::string> names;
    for (const PlannedTask& task : record.tasks) names.push_back(task.name);
    const auto near = nearest_word(task_name, names);
    return fail(ErrorCode::invalid_input, fmt::format("{} has no task '{}'{}", record.run_name, task_name,
                                                      near ? fmt::format(", did you mean '{}'", *near) : ""));
  }
  for (const auto& [state, entries] : snapshot.entries) {
    for (const EntryName& entry : entries) {
      if (entry.index == planned->index) return Place{state, entry};
    }
  }
  return fail(ErrorCode::corrupt, fmt::format("task '{}' is in no state; a resume makes it anew", task_name));
}

// All names are looked up before the first is moved: a misspelt one changes nothing.
Result<std::size_t> put_back(const Options& options, World& world, const QueueLayout& layout) {
  ARENA_ASSIGN(const FileLock lock, lock_run(layout));
  ARENA_ASSIGN(const StoredRecord stored, read_newest_record(world.disk, layout));
  ARENA_ASSIGN(const QueueSnapshot snapshot, take_snapshot(world.disk, layout));
  std::vector<Place> places;
  for (const std::string& name : options.names) {
    ARENA_ASSIGN(const Place place, find_task(name, stored.record, snapshot));
    if (place.state == QueueState::running) {
      return fail(ErrorCode::refused,
                  fmt::format("task '{}' is in running/: resume the run, or stop it first", name));
    }
    if (place.state == QueueState::pending) {
      world.console.line(fmt::format("{}: is pending already", name));
    } else if (std::none_of(places.begin(), places.end(),
                            [&](const Place& p) { return p.name.index == place.name.index; })) {
      places.push_back(place);
    }
  }
  for (const Place& place : places) {
    ARENA_TRY(requeue_finished(world.disk, layout, place.state, place.name));
    world.console.line(fmt::format("{}: {} -> pending", place.name.slug, name_of(place.state)));
  }
  return places.size();
}

}  // namespace

int retry_tasks(const Options& options, World& world) {
  const auto run = find_run(world.disk, options.run, options.workspace_root);
  if (!run) return report_error(run.error(), world.console);
  const auto moved = put_back(options, world, QueueLayout(*run));
  if (!moved) return report_error(moved.error(), world.console);
  world.console.result("run with: " + resume_command(*run));
  return kAllDone;
}

}  // namespace arena
