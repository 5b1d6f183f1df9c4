#include "coordinator/report_input.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "base/sealed_text.h"
#include "model/event.h"
#include "model/task_descriptor.h"
#include "queue/queue_snapshot.h"

namespace arena {

namespace {

constexpr std::string_view kLedgerSuffix = ".jsonl";

// The latest attempt of a task, as the ledgers tell it.
struct LastAttempt {
  std::int64_t number = 0;
  std::string worker_id;
  std::optional<WallTime> started;
  std::optional<WallTime> ended;
  std::optional<CauseClass> cause;
  std::string message;
};
using Ledger = std::unordered_map<std::string, LastAttempt>;

void apply(Ledger& ledger, const Event& event) {
  if (event.task.empty() || event.attempt == 0) return;
  LastAttempt& last = ledger[event.task];
  if (event.attempt < last.number) return;  // a writer that woke late
  if (event.kind == "claim") {
    last = {event.attempt, event.writer, parse_utc(event.time), std::nullopt, std::nullopt, {}};
  } else if (event.kind == "end" && event.attempt == last.number) {
    last.ended = parse_utc(event.time);
    last.cause = cause_class_from(event.cause);
    last.message = event.message;
  }
}

Ledger read_ledger(FileSystem& disk, const QueueLayout& layout, std::vector<std::string>& warnings) {
  Ledger ledger;
  std::vector<Event> events;
  const auto names = disk.list(layout.events_directory());
  if (!names) {
    if (names.error().code != ErrorCode::not_found) warnings.push_back(names.error().message);
    return ledger;
  }
  for (const std::string& name : *names) {
    if (name.size() <= kLedgerSuffix.size() ||
        name.substr(name.size() - kLedgerSuffix.size()) != kLedgerSuffix)
      continue;
    const auto text = disk.read(layout.events_directory() / name);
    if (!text) {
      warnings.push_back(text.error().message);
      continue;
    }
    for (Event& event : read_events(*text)) {
      if (event.kind == "claim" || event.kind == "end") events.push_back(std::move(event));
    }
  }
  // Each ledger is in order; UTC texts sort like the times they state.
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  for (const Event& event : events) apply(ledger, event);
  return ledger;
}

struct Place {
  RowState state = RowState::lost;
  EntryName name;
};

// An entry that moves while the directories are listed shows up twice; the later state is the true one then.
std::unordered_map<std::int64_t, Place> find_places(const QueueSnapshot& snapshot) {
  std::unordered_map<std::int64_t, Place> places;
  constexpr std::pair<QueueState, RowState> kOrder[] = {{QueueState::pending, RowState::pending},
                                                        {QueueState::running, RowState::running},
                                                        {QueueState::failed, RowState::failed},
                                                        {QueueState::done, RowState::done}};
  for (const auto& [queue_state, row_state] : kOrder) {
    const auto found = snapshot.entries.find(queue_state);
    if (found == snapshot.entries.end()) continue;
    for (const EntryName& name : found->second) places[name.index] = {row_state, name};
  }
  return places;
}

QueueState queue_state_of(RowState state) {
  switch (state) {
    case RowState::running:
      return QueueState::running;
    case RowState::done:
      return QueueState::done;
    case RowState::failed:
      return QueueState::failed;
    case RowState::pending:
    case RowState::lost:
      break;
  }
  return QueueState::pending;
}

// Nothing if the entry has moved on since the listing, or cannot be read; `row` then says so.
std::optional<TaskDescriptor> read_entry(FileSystem& disk, const QueueLayout& layout, const Place& place,
                                         ReportRow& row) {
  const fs::path file = layout.entry(queue_state_of(place.state), place.name);
  const auto text = disk.read(file);
  if (!text) return std::nullopt;
  auto descriptor = read_descriptor(*text, file.string());
  if (!descriptor) {
    if (row.cause_message.empty()) row.cause_message = descriptor.error().message;
    return std::nullopt;
  }
  return std::move(*descriptor);
}

void add_result(FileSystem& disk, const QueueLayout& layout, const std::string& run_id,
                const std::optional<TaskDescriptor>& descriptor, ReportRow& row) {
  const fs::path file = layout.task_result(row.task_name);
  const auto text = disk.read(file);
  auto result = text ? read_task_result(*text, file.string()) : Result<TaskResult>(fail(text.error()));
  if (!result) {
    row.cause_message = "its result cannot be read: " + result.error().message;
  } else if (result->run_id != run_id || result->task_name != row.task_name) {
    row.cause_message =
        fmt::format("'{}' belongs to task {} of run {}", file.string(), result->task_name, result->run_id);
  } else if (descriptor && !descriptor->result_digest.empty() &&
             descriptor->result_digest != stated_seal(*text)) {
    row.cause_message = fmt::format("'{}' was replaced after the task was done", file.string());
  } else {
    row.attempt = result->attempt;
    row.worker_id = result->worker_id;
    row.cause = CauseClass::completed;
    row.cause_message.clear();
    row.result = std::make_shared<const TaskResult>(std::move(*result));
  }
}

void add_descriptor(const TaskDescriptor& descriptor, ReportRow& row) {
  row.attempt = std::max(row.attempt, descriptor.attempt);
  if (!descriptor.claimed_by.empty()) row.worker_id = descriptor.claimed_by;
  // In running/ it still tells how the attempt before ended.
  if (row.state == RowState::running || !descriptor.cause) return;
  row.cause = descriptor.cause;
  row.cause_message = descriptor.cause_message;
}

// What completes the rows: shared by all of them.
struct Source {
  FileSystem& disk;
  QueueLayout layout;
  std::string run_id;
  Ledger ledger;
  std::unordered_map<std::int64_t, Place> places;
};

ReportRow make_row(const Source& source, const PlannedTask& task) {
  ReportRow row;
  row.index = task.index;
  row.task_name = task.name;
  row.workspace = source.layout.workspace(task.name).filename().string();
  const auto place = source.places.find(task.index);
  row.state = place == source.places.end() ? RowState::lost : place->second.state;
  return row;
}

void complete_row(const Source& source, ReportRow& row) {
  if (const auto found = source.ledger.find(row.task_name); found != source.ledger.end()) {
    const LastAttempt& last = found->second;
    row.attempt = last.number;
    row.worker_id = last.worker_id;
    row.started = last.started;
    row.ended = last.ended;
    row.cause = last.cause;
    row.cause_message = last.message;
  }
  if (row.state == RowState::lost) {
    row.cause_message = "it is in no state directory of the queue; see .parallel/corrupt/";
    return;
  }
  const auto descriptor = read_entry(source.disk, source.layout, source.places.at(row.index), row);
  if (row.state == RowState::done) {
    add_result(source.disk, source.layout, source.run_id, descriptor, row);
  } else if (descriptor) {
    add_descriptor(*descriptor, row);
  }
}

Result<RunReportInput> load_own_input(FileSystem& disk, const QueueLayout& layout, std::string first_record) {
  RunReportInput input;
  std::map<std::int64_t, PlannedTask> planned;
  std::string text = std::move(first_record);
  for (int number = 1;; ++number) {
    const fs::path file = layout.run_record(number);
    if (number > 1) {
      auto next = disk.read(file);
      if (!next && next.error().code == ErrorCode::not_found) break;
      if (!next) return fail(next.error());
      text = std::move(*next);
    }
    ARENA_ASSIGN(RunRecord record, read_run_record(text, file.string()));
    input.run_id = record.run_id;
    input.agent = record.config.agent.template_name;
    input.target_gpu = record.config.target_gpu_model;
    input.formula = record.config.score_formula;
    input.skipped = std::move(record.skipped);
    for (PlannedTask& task : record.tasks) planned[task.index] = std::move(task);
  }
  input.run_name = layout.run_name();
  ARENA_ASSIGN(const QueueSnapshot snapshot, take_snapshot(disk, layout));
  for (const auto& [state, name] : snapshot.foreign) {
    input.warnings.push_back(fmt::format("'{}' is no entry of {}/", name, name_of(state)));
  }
  // Before the results: an attempt that ends in between is missing its times, not its result.
  Ledger ledger = read_ledger(disk, layout, input.warnings);
  const auto source = std::make_shared<const Source>(
      Source{disk, layout, input.run_id, std::move(ledger), find_places(snapshot)});
  input.rows.reserve(planned.size());
  for (const auto& [index, task] : planned) input.rows.push_back(make_row(*source, task));
  input.complete = [source](ReportRow& row) { complete_row(*source, row); };
  return input;
}

}  // namespace

Result<RunReportInput> load_report_input(FileSystem& disk, const QueueLayout& layout) {
  if (!run_timestamp_of(layout.run_name())) {
    return fail(ErrorCode::invalid_input,
                fmt::format("'{}' is no run directory: its name is not run_<date>_<time>",
                            layout.run_directory().string()));
  }
  auto record = disk.read(layout.run_record());
  if (record) return load_own_input(disk, layout, std::move(*record));
  if (record.error().code == ErrorCode::not_found) return load_foreign_report_input(disk, layout);
  return fail(record.error());
}

}  // namespace arena
