#include "coordinator/status.h"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "coordinator/event_reader.h"
#include "coordinator/run_display.h"
#include "coordinator/run_lock.h"
#include "coordinator/shell_command.h"
#include "coordinator/worker_roster.h"
#include "model/task_descriptor.h"

namespace arena {

namespace {

constexpr std::size_t kFailedShown = 20;

std::vector<LiveWorker> live_workers(FileSystem& disk, const QueueLayout& layout) {
  std::vector<LiveWorker> live;
  const auto open = list_open_workers(disk, layout);
  if (!open) return live;
  for (const OpenWorker& worker : *open) {
    if (!worker.record || (!worker.process && worker.elsewhere.empty())) continue;
    LiveWorker seen;
    seen.id = format_worker_id(worker.id);
    seen.pid = worker.record->pid;
    seen.device = worker.record->device;
    if (!worker.elsewhere.empty()) seen.device += fmt::format(" on {}", worker.elsewhere);
    ActivityBoard board;
    EventReader reader(layout);
    for (const Event& event : reader.read_new(seen.id)) board.apply(event);
    seen.activity = board.of(seen.id);
    if (!seen.activity.log.empty())
      seen.last_output = modification_time(fs::absolute(seen.activity.log, layout.run_directory()));
    live.push_back(std::move(seen));
  }
  return live;
}

std::vector<Quarantine> quarantined_devices(const QueueLayout& layout, const std::vector<LiveWorker>& live) {
  std::map<std::string, std::string> reasons;
  for (const Event& event : EventReader(layout).read_all()) {
    const auto device = event.more.find("device");
    if (device == event.more.end()) continue;
    if (event.kind == "quarantine") reasons[device->second] = event.message;
    if (event.kind == "worker_start") reasons.erase(device->second);
  }
  for (const LiveWorker& worker : live) reasons.erase(worker.device);
  std::vector<Quarantine> quarantined;
  quarantined.reserve(reasons.size());
  for (auto& [device, reason] : reasons) quarantined.push_back({device, std::move(reason)});
  return quarantined;
}

std::vector<FailedTask> failed_tasks(FileSystem& disk, const QueueLayout& layout,
                                     const QueueSnapshot& snapshot) {
  std::vector<FailedTask> failed;
  const auto entries = snapshot.entries.find(QueueState::failed);
  if (entries == snapshot.entries.end()) return failed;
  for (const EntryName& entry : entries->second) {
    const fs::path file = layout.entry(QueueState::failed, entry);
    const auto text = disk.read(file);
    const auto descriptor = text ? read_descriptor(*text, file.string()) : fail(text.error());
    if (!descriptor) {
      failed.push_back({entry.slug, "unreadable", descriptor.error().message});
    } else {
      failed.push_back({descriptor->task_name,
                        descriptor->cause ? std::string(name_of(*descriptor->cause)) : "unknown",
                        descriptor->cause_message});
    }
  }
  return failed;
}

std::int64_t count_corrupt(FileSystem& disk, const QueueLayout& layout) {
  const auto names = disk.list(layout.corrupt_directory());
  if (!names) return 0;
  return std::count_if(names->begin(), names->end(),
                       [](const std::string& name) { return parse_corrupt_name(name).has_value(); });
}

}  // namespace

Result<RunStatus> read_status(FileSystem& disk, const fs::path& run_directory) {
  const QueueLayout layout(run_directory);
  RunStatus status;
  status.run_directory = run_directory;
  ARENA_ASSIGN(StoredRecord stored, read_newest_record(disk, layout));
  status.record = std::move(stored.record);
  ARENA_ASSIGN(status.has_queue, disk.exists(layout.parallel()));
  if (!status.has_queue) return status;
  status.coordinator = is_run_locked(layout);
  ARENA_ASSIGN(const QueueSnapshot snapshot, take_snapshot(disk, layout));
  status.counts = counts_of(snapshot);
  status.corrupt = count_corrupt(disk, layout);
  status.failed = failed_tasks(disk, layout, snapshot);
  status.workers = live_workers(disk, layout);
  status.quarantined = quarantined_devices(layout, status.workers);
  ARENA_ASSIGN(status.halt, read_halt(disk, layout.halt_file()));
  return status;
}

std::string state_phrase(const RunStatus& status) {
  const QueueCounts& counts = status.counts;
  if (!status.has_queue) return "being created, or its coordinator died at it";
  const std::string workers =
      fmt::format("{} worker{}", status.workers.size(), status.workers.size() == 1 ? "" : "s");
  if (status.coordinator)
    return status.halt ? fmt::format("ending, {}", workers) : fmt::format("running, {}", workers);
  if (!status.workers.empty())
    return fmt::format("{} at work without a coordinator (a resume adopts them)", workers);
  if (counts.pending + counts.running > 0) return "stopped";
  return counts.failed > 0 ? "ended, some tasks failed" : "all done";
}

std::vector<std::string> status_lines(const RunStatus& status, WallTime now) {
  const QueueCounts& counts = status.counts;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("run     {}", status.run_directory.string()));
  lines.push_back(fmt::format(
      "what    agent {}, target {}, {} tasks{}", status.record.config.agent.template_name,
      status.record.config.target_gpu_model, status.record.tasks.size(),
      status.record.skipped.empty() ? "" : fmt::format(", {} skipped", status.record.skipped.size())));
  lines.push_back("state   " + state_phrase(status));
  lines.push_back(fmt::format("tasks   {} done, {} failed, {} running, {} pending", counts.done,
                              counts.failed, counts.running, counts.pending));
  if (status.corrupt > 0)
    lines.push_back(fmt::format("corrupt {} unreadable entries set aside", status.corrupt));
  if (status.halt)
    lines.push_back(
        fmt::format("halt    {} by {}: {}", status.halt->cause, status.halt->by, status.halt->message));
  for (const LiveWorker& worker : status.workers) {
    const WorkerActivity& activity = worker.activity;
    std::string line = fmt::format("worker  {} (pid {}, {})", worker.id, worker.pid, worker.device);
    if (!activity.task.empty()) line += fmt::format(": {} {}", activity.task, activity.phase);
    using std::chrono::duration_cast, std::chrono::seconds;
    if (activity.task_since)
      line += fmt::format(", {}", format_duration(duration_cast<seconds>(now - *activity.task_since)));
    if (worker.last_output)
      line +=
          fmt::format(", output {} ago", format_duration(duration_cast<seconds>(now - *worker.last_output)));
    lines.push_back(std::move(line));
  }
  for (const Quarantine& quarantine : status.quarantined)
    lines.push_back(fmt::format("device  {} quarantined: {}", quarantine.device, quarantine.reason));
  for (std::size_t i = 0; i < std::min(status.failed.size(), kFailedShown); ++i) {
    const FailedTask& task = status.failed[i];
    lines.push_back(fmt::format("failed  {}: {}{}{}", task.name, task.cause, task.message.empty() ? "" : ": ",
                                task.message));
  }
  if (status.failed.size() > kFailedShown)
    lines.push_back(fmt::format("failed  and {} more", status.failed.size() - kFailedShown));
  if (!status.coordinator && (counts.pending + counts.running > 0 || !status.has_queue)) {
    lines.push_back("resume  " + resume_command(status.run_directory));
  } else if (!status.coordinator && counts.failed > 0) {
    lines.push_back("again   " + resume_command(status.run_directory, {"--retry-failed"}));
  }
  return lines;
}

std::string status_json(const RunStatus& status) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["run"] = status.record.run_name;
  json["path"] = status.run_directory.string();
  json["state"] = state_phrase(status);
  json["agent"] = status.record.config.agent.template_name;
  json["target_gpu_model"] = status.record.config.target_gpu_model;
  json["coordinator"] = status.coordinator;
  json["counts"] = {{"total", status.record.tasks.size()},    {"pending", status.counts.pending},
                    {"running", status.counts.running},       {"done", status.counts.done},
                    {"failed", status.counts.failed},         {"corrupt", status.corrupt},
                    {"skipped", status.record.skipped.size()}};
  json["workers"] = Json::array();
  for (const LiveWorker& worker : status.workers) {
    Json one{{"id", worker.id}, {"pid", worker.pid}, {"device", worker.device}};
    if (!worker.activity.task.empty()) {
      one["task"] = worker.activity.task;
      one["attempt"] = worker.activity.attempt;
      one["phase"] = worker.activity.phase;
    }
    if (worker.activity.task_since) one["task_since"] = format_utc(*worker.activity.task_since);
    if (worker.last_output) one["last_output"] = format_utc(*worker.last_output);
    json["workers"].push_back(std::move(one));
  }
  json["quarantined"] = Json::array();
  for (const Quarantine& quarantine : status.quarantined)
    json["quarantined"].push_back({{"device", quarantine.device}, {"reason", quarantine.reason}});
  json["failed"] = Json::array();
  for (const FailedTask& task : status.failed) {
    json["failed"].push_back({{"task", task.name}, {"cause", task.cause}, {"message", task.message}});
  }
  json["halt"] = nullptr;
  if (status.halt)
    json["halt"] = {
        {"by", status.halt->by}, {"cause", status.halt->cause}, {"message", status.halt->message}};
  if (!status.coordinator && status.counts.pending + status.counts.running > 0) {
    json["resume_command"] = resume_command(status.run_directory);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace arena
