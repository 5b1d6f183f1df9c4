#include "queue/queue_layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/result.h"
#include "base/text.h"

namespace arena {

namespace {

constexpr std::string_view kWorkerPrefix = "worker_";
constexpr std::string_view kWorkerEnd = "__";
constexpr std::string_view kSuffix = ".yaml";
constexpr std::string_view kTemporary = ".tmp.";
constexpr std::size_t kIndexDigits = 6;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter_or_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name_character(char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-'; }
// '_' is left out, so that the "__" behind an id is found without doubt.
bool is_id_character(char c) { return is_letter_or_digit(c) || c == '.' || c == '-'; }

bool all_of(std::string_view text, bool (*predicate)(char)) {
  return !text.empty() && std::all_of(text.begin(), text.end(), predicate);
}

// A number as our formatters write it: digits only, no more leading zeros than the width needs.
std::optional<std::int64_t> parse_number(std::string_view text, std::size_t width, std::int64_t minimum) {
  if (!all_of(text, is_digit) || text.size() < width || (text.size() > width && text.front() == '0'))
    return {};
  const auto number = parse_integer(text);
  return number && *number >= minimum ? number : std::nullopt;
}

bool remove_prefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool remove_suffix(std::string_view& text, std::string_view suffix) {
  if (text.size() < suffix.size() || text.substr(text.size() - suffix.size()) != suffix) return false;
  text.remove_suffix(suffix.size());
  return true;
}

std::string path_name(const std::string& name) {
  ARENA_ASSERT(all_of(name, is_name_character) && name.front() != '.');
  return name;
}

}  // namespace

std::string_view name_of(QueueState state) {
  switch (state) {
    case QueueState::pending:
      return "pending";
    case QueueState::running:
      return "running";
    case QueueState::done:
      return "done";
    case QueueState::failed:
      return "failed";
  }
  return "pending";
}

std::string slug_of(std::string_view task_name) {
  std::string slug;
  bool in_gap = false;
  for (const char c : task_name) {
    if (is_name_character(c)) {
      slug += c;
    } else if (!in_gap) {
      slug += '_';
    }
    in_gap = !is_name_character(c);
  }
  const std::size_t begin = slug.find_first_not_of('_');
  if (begin == std::string::npos) return "task";
  return slug.substr(begin, slug.find_last_not_of('_') - begin + 1);
}

std::string workspace_slug_of(std::string_view task_name) {
  std::string slug(task_name);
  std::replace(slug.begin(), slug.end(), '/', '_');
  return slug;
}

std::string format_entry_name(const EntryName& entry) {
  ARENA_ASSERT(entry.index >= 1);
  const std::string plain = fmt::format("{:06}_{}{}", entry.index, entry.slug, kSuffix);
  return entry.worker_id.empty() ? plain
                                 : fmt::format("{}{}{}{}", kWorkerPrefix, entry.worker_id, kWorkerEnd, plain);
}

std::optional<EntryName> parse_entry_name(std::string_view name) {
  EntryName entry;
  if (!remove_suffix(name, kSuffix)) return {};
  if (remove_prefix(name, kWorkerPrefix)) {
    const std::size_t end = name.find(kWorkerEnd);
    if (end == std::string_view::npos || !all_of(name.substr(0, end), is_id_character)) return {};
    entry.worker_id = name.substr(0, end);
    name.remove_prefix(end + kWorkerEnd.size());
  }
  const std::size_t separator = name.find('_');
  if (separator == std::string_view::npos) return {};
  const auto index = parse_number(name.substr(0, separator), kIndexDigits, 1);
  const std::string_view slug = name.substr(separator + 1);
  if (!index || slug.empty() || slug_of(slug) != slug) return {};
  entry.index = *index;
  entry.slug = slug;
  return entry;
}

std::optional<EntryName> parse_temporary_entry_name(std::string_view name) {
  const std::size_t end = name.rfind(kTemporary);
  if (end == std::string_view::npos) return {};
  const std::string_view numbers = name.substr(end + kTemporary.size());
  const std::size_t dot = numbers.find('.');
  if (dot == std::string_view::npos || !parse_number(numbers.substr(0, dot), 1, 1) ||
      !parse_number(numbers.substr(dot + 1), 1, 0)) {
    return {};
  }
  return parse_entry_name(name.substr(0, end));
}

std::string format_corrupt_name(const CorruptName& name) {
  const std::string entry = format_entry_name(name.entry);
  return name.number == 1 ? entry : fmt::format("{}.{}", entry, name.number);
}

std::optional<CorruptName> parse_corrupt_name(std::string_view name) {
  CorruptName corrupt;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {};
  if (const auto number = parse_number(name.substr(dot + 1), 1, 2)) {
    corrupt.number = *number;
    name = name.substr(0, dot);
  }
  const auto entry = parse_entry_name(name);
  if (!entry) return {};
  corrupt.entry = *entry;
  return corrupt;
}

std::string format_worker_id(const WorkerId& id) { return fmt::format("{}.{}", id.slot, id.incarnation); }

std::optional<WorkerId> parse_worker_id(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return {};
  const auto slot = parse_number(text.substr(0, dot), 1, 0);
  const auto incarnation = parse_number(text.substr(dot + 1), 1, 0);
  if (!slot || !incarnation) return {};
  return WorkerId{*slot, *incarnation};
}

std::optional<std::string> run_timestamp_of(std::string_view run_name) {
  constexpr std::string_view kPattern = "00000000_000000";
  if (!remove_prefix(run_name, "run_") || run_name.size() < kPattern.size()) return {};
  const std::string_view timestamp = run_name.substr(0, kPattern.size());
  for (std::size_t i = 0; i < kPattern.size(); ++i) {
    if (kPattern[i] == '0' ? !is_digit(timestamp[i]) : timestamp[i] != kPattern[i]) return {};
  }
  run_name.remove_prefix(kPattern.size());
  if (!run_name.empty() && !(remove_prefix(run_name, "_") && is_valid_run_suffix(run_name))) return {};
  return std::string(timestamp);
}

bool is_valid_run_suffix(std::string_view suffix) { return all_of(suffix, is_name_character); }

QueueLayout::QueueLayout(fs::path run_directory) : run_directory_(std::move(run_directory)) {
  ARENA_ASSERT(run_directory_.is_absolute());
  // "run_x/" has an empty last component.
  if (run_directory_.filename_is_dot() || !run_directory_.has_filename()) {
    run_directory_ = run_directory_.parent_path();
  }
}

std::string QueueLayout::run_name() const { return run_directory_.filename().string(); }
fs::path QueueLayout::run_record(int number) const {
  return run_directory_ / (number == 1 ? std::string("run.yaml") : fmt::format("run.{}.yaml", number));
}
fs::path QueueLayout::parallel() const { return run_directory_ / ".parallel"; }
fs::path QueueLayout::parallel_being_built() const { return run_directory_ / ".parallel.new"; }
fs::path QueueLayout::coordinator_lock() const { return parallel() / "coordinator.lock"; }
fs::path QueueLayout::halt_file() const { return parallel() / "halt.yaml"; }
fs::path QueueLayout::state_directory(QueueState state) const {
  return parallel() / std::string(name_of(state));
}
fs::path QueueLayout::entry(QueueState state, const EntryName& name) const {
  return state_directory(state) / format_entry_name(name);
}
fs::path QueueLayout::corrupt_directory() const { return parallel() / "corrupt"; }
fs::path QueueLayout::corrupt_entry(const CorruptName& name) const {
  return corrupt_directory() / format_corrupt_name(name);
}
fs::path QueueLayout::corrupt_reason(const CorruptName& name) const {
  return corrupt_directory() / (format_corrupt_name(name) + ".reason");
}
fs::path QueueLayout::workers_directory() const { return parallel() / "workers"; }
fs::path QueueLayout::worker_record(const std::string& id) const {
  return workers_directory() / (path_name(id) + ".yaml");
}
fs::path QueueLayout::worker_lock(const std::string& id) const {
  return workers_directory() / (path_name(id) + ".lock");
}
fs::path QueueLayout::worker_halt(const std::string& id) const {
  return workers_directory() / (path_name(id) + ".halt");
}
fs::path QueueLayout::worker_log(const std::string& id) const {
  return workers_directory() / (path_name(id) + ".log");
}
fs::path QueueLayout::events_directory() const { return parallel() / "events"; }
fs::path QueueLayout::events(const std::string& writer) const {
  return events_directory() / (path_name(writer) + ".jsonl");
}
fs::path QueueLayout::workspace(std::string_view task_name) const {
  const auto timestamp = run_timestamp_of(run_name());
  ARENA_ASSERT(timestamp);
  return run_directory_ / fmt::format("{}_{}", workspace_slug_of(task_name), *timestamp);
}
fs::path QueueLayout::task_result(std::string_view task_name) const {
  return workspace(task_name) / "task_result.yaml";
}
fs::path QueueLayout::attempts(std::string_view task_name) const {
  return run_directory_ / ".attempts" / workspace_slug_of(task_name);
}
fs::path QueueLayout::attempt(std::string_view task_name, std::int64_t number) const {
  return attempts(task_name) / fmt::format("{}", number);
}
fs::path QueueLayout::candidate(std::string_view task_name) const {
  return attempts(task_name) / "candidate";
}
fs::path QueueLayout::agent_cost(std::string_view task_name) const {
  return run_directory_ / "agent_costs" / (workspace_slug_of(task_name) + ".yaml");
}

fs::path QueueLayout::reports() const { return run_directory_ / "reports"; }

}  // namespace arena
