#include "queue/task_queue.h"

#include <algorithm>
#include <utility>

#include "base/step.h"
#include "queue/entry_file.h"
#include "queue/event_ledger.h"

namespace arena {

TaskQueue::TaskQueue(FileSystem& disk, Clock& clock, QueueLayout layout, std::string worker_id)
    : disk_(disk), clock_(clock), layout_(std::move(layout)), worker_id_(std::move(worker_id)) {
  ARENA_ASSERT(!worker_id_.empty());
}

Result<tl::expected<Claim, NoClaim>> TaskQueue::claim() {
  using Answer = tl::expected<Claim, NoClaim>;
  ARENA_ASSIGN(const bool halted, disk_.exists(layout_.halt_file()));
  if (halted) return Answer(tl::unexpect, NoClaim::halted);
  for (;;) {
    ARENA_ASSIGN(const auto candidate, next_candidate());
    if (!candidate) return Answer(tl::unexpect, NoClaim::empty);
    ARENA_ASSIGN(auto claim, take(*candidate));
    if (claim) return Answer(std::move(*claim));
  }
}

Result<std::optional<EntryName>> TaskQueue::next_candidate() {
  // A listing made while others rename may miss an entry, so one empty look proves nothing.
  for (int empty_looks = 0; left_.empty() && empty_looks < 2; ++empty_looks) {
    ARENA_ASSIGN(const auto names, disk_.list(layout_.state_directory(QueueState::pending)));
    for (const std::string& name : names) {
      auto entry = parse_entry_name(name);
      if (entry && entry->worker_id.empty()) left_.push_back(std::move(*entry));
    }
    std::sort(left_.begin(), left_.end(), [](const auto& a, const auto& b) { return a.index > b.index; });
  }
  if (left_.empty()) return std::optional<EntryName>();
  std::optional<EntryName> next = std::move(left_.back());
  left_.pop_back();
  return next;
}

Result<std::optional<Claim>> TaskQueue::take(const EntryName& pending) {
  const fs::path from = layout_.entry(QueueState::pending, pending);
  const EntryName name{worker_id_, pending.index, pending.slug};
  const fs::path mine = layout_.entry(QueueState::running, name);
  const auto unless_gone = [](Error error) -> Result<std::optional<Claim>> {
    if (error.code == ErrorCode::not_found) return std::optional<Claim>();
    return fail(std::move(error));
  };

  if (auto moved = disk_.rename(from, mine, Replace::no); !moved)
    return unless_gone(std::move(moved).error());
  step("claim.renamed");

  // Read after the claim, never before: what was read before may have been another attempt's descriptor.
  auto read = read_entry(disk_, mine, name);
  if (!read && read.error().code == ErrorCode::corrupt) {
    const std::string& reason = read.error().message;
    if (auto aside = set_aside(disk_, layout_, QueueState::running, name, reason); !aside) {
      return unless_gone(std::move(aside).error());
    }
    Event event;
    event.time = format_utc(clock_.now());
    event.kind = "corrupt";
    event.writer = worker_id_;
    event.message = reason;
    ARENA_TRY(append_event(disk_, layout_, event));
    return std::optional<Claim>();
  }
  if (!read) return unless_gone(std::move(read).error());

  TaskDescriptor descriptor = std::move(*read);
  descriptor.attempt += 1;
  descriptor.claimed_by = worker_id_;
  descriptor.claimed_at = format_utc(clock_.now());
  // A requeue is a bare rename, so the last attempt's end may still stand here.
  descriptor.status = DescriptorStatus::pending;
  descriptor.worker_id.clear();
  descriptor.result_digest.clear();
  // Not synced: after power loss the claim is merely run again, or the entry cannot be read and is
  // regenerated.
  if (auto written = rewrite_entry(disk_, mine, descriptor, Sync::no); !written) {
    // Nothing ran yet: with the entry back in its place another worker can have it without any recovery.
    if (written.error().code != ErrorCode::not_found) (void)disk_.rename(mine, from, Replace::no);
    return unless_gone(std::move(written).error());
  }
  step("claim.written");
  return std::optional<Claim>(Claim{name, std::move(descriptor)});
}

Status TaskQueue::finish(const Claim& claim, TaskDescriptor descriptor, QueueState target) {
  ARENA_ASSERT(target == QueueState::done || target == QueueState::failed);
  descriptor.status = target == QueueState::done ? DescriptorStatus::done : DescriptorStatus::failed;
  descriptor.worker_id = worker_id_;
  ARENA_TRY(rewrite_entry(disk_, layout_.entry(QueueState::running, claim.name), descriptor, Sync::yes));
  step("finish.rewritten");
  ARENA_TRY(move_entry(disk_, layout_, claim.name, QueueState::running, target));
  step("finish.moved");
  return sync_move(disk_, layout_, QueueState::running, target);
}

Status TaskQueue::hand_back(const Claim& claim, TaskDescriptor descriptor) {
  // A caller may have decided so itself: a full disk, or the evaluation of a kept candidate, costs no
  // attempt.
  const bool uncounted = descriptor.cause == CauseClass::quota || descriptor.cause == CauseClass::cancelled ||
                         descriptor.uncounted > claim.descriptor.uncounted;
  // Counted from the claim, so that it is counted once whatever the caller did.
  descriptor.uncounted = claim.descriptor.uncounted + (uncounted ? 1 : 0);
  descriptor.status = DescriptorStatus::pending;
  descriptor.result_digest.clear();
  // No claim stands any more: recovery takes a result for this attempt's only where its claimer's name is
  // written.
  descriptor.claimed_by.clear();
  descriptor.claimed_at.clear();
  ARENA_TRY(rewrite_entry(disk_, layout_.entry(QueueState::running, claim.name), descriptor, Sync::yes));
  step("handback.rewritten");
  ARENA_TRY(move_entry(disk_, layout_, claim.name, QueueState::running, QueueState::pending));
  step("handback.moved");
  return {};
}

}  // namespace arena
