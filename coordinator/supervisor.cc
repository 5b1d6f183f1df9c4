#include "coordinator/supervisor.h"

#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <boost/asio/signal_set.hpp>
#include <csignal>

#include "coordinator/queue_watch.h"
#include "coordinator/run_display.h"
#include "coordinator/slot.h"

namespace arena {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

class Supervisor {
 public:
  Supervisor(SupervisorOrder& order, FileSystem& disk, Clock& clock, WorkerLauncher& launcher,
             Console& console, RunLog& log, QueueWatch watch)
      : order_(order),
        disk_(disk),
        clock_(clock),
        launcher_(launcher),
        log_(log),
        console_(console),
        watch_(std::move(watch)),
        display_(order.layout, order.snapshot, clock, console, log, order.json),
        signals_(io_, SIGINT, SIGTERM, SIGHUP),
        watch_stream_(io_),
        tick_(io_) {}

  SupervisorOutcome run() {
    add_slots();
    wait_for_signal();
    watch_stream_.assign(::dup(watch_.descriptor()));
    wait_for_changes();
    if (console_.is_terminal() && !order_.json) wait_for_tick();
    // Something may have happened before the watch was there.
    absorb(QueueChanges{{}, {}, true, true});
    settle();
    io_.run();
    console_.draw({});
    return std::move(outcome_);
  }

 private:
  // --- set-up ---
  void add_slots() {
    for (std::size_t i = 0; i < order_.devices.size(); ++i) {
      slots_.push_back(std::make_unique<Slot>(io_, static_cast<std::int64_t>(i), order_.devices[i]));
    }
    for (AdoptedWorker& worker : order_.adopted) {
      Slot* slot = worker.drains ? nullptr : slots_[static_cast<std::size_t>(worker.id.slot)].get();
      if (slot == nullptr) {
        slots_.push_back(std::make_unique<Slot>(io_, worker.id.slot, ""));
        slot = slots_.back().get();
      }
      slot->record.state = worker.drains ? SlotState::draining : SlotState::adopted;
      slot->worker_id = format_worker_id(worker.id);
      display_.follow(slot->worker_id);
      watch_exit(*slot, std::move(worker.process));
    }
  }

  // --- what can happen ---
  void wait_for_signal() {
    signals_.async_wait([this](const error_code& error, int number) {
      if (error) return;
      on_signal(number);
      wait_for_signal();
    });
  }

  void on_signal(int number) {
    if (number == SIGHUP) {
      log_.info("hangup: the terminal is gone, the run goes on");
      if (console_.is_terminal()) console_.detach();  // output that goes elsewhere is still wanted
      return;
    }
    if (outcome_.signal == 0) {
      outcome_.signal = number;
      const auto busy = std::count_if(slots_.begin(), slots_.end(),
                                      [](const auto& slot) { return has_worker(slot->record.state); });
      say(fmt::format("ending: {} worker{} may finish the running task; once more stops them at once", busy,
                      busy == 1 ? "" : "s"));
      drain("drain", number == SIGINT ? "interrupted" : "terminated");
    } else if (!stopping_) {
      say("stopping now: running tasks go back to pending");
      stop_now();
    }
    settle();
  }

  void wait_for_changes() {
    watch_stream_.async_wait(asio::posix::stream_descriptor::wait_read, [this](const error_code& error) {
      if (error) return;
      const QueueChanges changes = watch_.take();
      absorb(changes);
      // A free slot matters again only when a task came back.
      const bool came_back =
          std::any_of(changes.arrived.begin(), changes.arrived.end(),
                      [](const auto& arrival) { return arrival.first == QueueState::pending; });
      if (came_back || changes.overflow || outcome_.halt) settle();
      wait_for_changes();
    });
  }

  void wait_for_tick() {
    tick_.expires_after(std::chrono::seconds(1));
    tick_.async_wait([this](const error_code& error) {
      if (error) return;
      draw();
      wait_for_tick();
    });
  }

  void absorb(const QueueChanges& changes) {
    for (const Event& event : display_.absorb(changes, disk_)) {
      if (event.kind != "end" || (event.cause != "completed" && event.cause != "task_error" &&
                                  event.cause != "agent_error" && event.cause != "timed_out")) {
        continue;
      }
      for (const auto& slot : slots_) {
        if (slot->worker_id == event.writer) feed(*slot, SlotEvent::task_finished);
      }
    }
    if (changes.halt) notice_halt();
    if (order_.halt && display_.new_failures() >= order_.halt->failures && !outcome_.halt) {
      say(fmt::format("{} tasks have failed: {}", display_.new_failures(),
                      order_.halt->now ? "stopping now" : "ending"));
      drain("failures", fmt::format("{} tasks have failed", display_.new_failures()));
      if (order_.halt->now) stop_now();
    }
    draw();
  }

  // Somebody (a user's stop, a worker out of quota or disk) ended all claims.
  void notice_halt() {
    if (outcome_.halt) return;
    const auto halt = read_halt(disk_, order_.layout.halt_file());
    if (!halt || !*halt) return;
    say(fmt::format("no further tasks are claimed ({} by {}): {}", (*halt)->cause, (*halt)->by,
                    (*halt)->message));
    outcome_.halt = **halt;
    feed_all(SlotEvent::drain);
  }

  // --- decisions, performed ---
  void drain(const std::string& cause, const std::string& message) {
    const Halt halt{"coordinator", cause, message};
    const Status written = request_halt(disk_, order_.layout.halt_file(), halt);
    // Without the file workers would go on claiming: then only a stop ends the run.
    if (!written) {
      problem(written.error().message);
      stop_now();
    }
    if (!outcome_.halt) outcome_.halt = halt;
    feed_all(SlotEvent::drain);
  }

  void stop_now() {
    stopping_ = true;
    feed_all(SlotEvent::stop_now);
  }

  void feed_all(SlotEvent event) {
    for (const auto& slot : slots_) feed(*slot, event);
  }

  void feed(Slot& slot, SlotEvent event) {
    const SlotStep next = next_step(slot.record, event, clock_.steady_now());
    slot.record = next.slot;
    for (const SlotAction action : next.actions) perform(slot, action);
  }

  void perform(Slot& slot, SlotAction action) {
    switch (action) {
      case SlotAction::launch:
        return launch_worker(slot);
      case SlotAction::recover:
        return recover_entries(slot);
      case SlotAction::send_term:
        return send(slot, SIGTERM);
      case SlotAction::send_kill:
        return send(slot, SIGKILL);
      case SlotAction::cancel_timer:
        slot.timer.cancel();
        return;
      case SlotAction::start_timer:
        slot.timer.expires_at(slot.record.not_before);
        slot.timer.async_wait([this, &slot](const error_code& error) {
          if (error) return;
          feed(slot, SlotEvent::timer);
          settle();
        });
        return;
      case SlotAction::report_given_up:
        return problem(fmt::format("slot {} is given up after {}: {}; see {}", slot.number, slot.exit_text,
                                   last_line(order_.layout.worker_log(slot.worker_id)),
                                   order_.layout.worker_log(slot.worker_id).string()));
    }
  }

  void launch_worker(Slot& slot) {
    slot.worker_id = format_worker_id({slot.number, ++order_.used_incarnations[slot.number]});
    auto process = launcher_.start({slot.worker_id, slot.device});
    if (!process) {
      log_.error(process.error().message);
      slot.exit_text = process.error().message;
      return feed(slot, SlotEvent::launch_failed);
    }
    log_.info(fmt::format("worker {} started on {}: pid {}{}", slot.worker_id, slot.device, process->pid(),
                          process->pid_namespace() ? ", own PID namespace" : ""));
    watch_exit(slot, std::move(*process));
    feed(slot, SlotEvent::launched);
  }

  void watch_exit(Slot& slot, LaunchedProcess process) {
    slot.process.emplace(std::move(process));
    slot.exit_watch.assign(::dup(slot.process->pidfd()));
    slot.exit_watch.async_wait(asio::posix::stream_descriptor::wait_read,
                               [this, &slot](const error_code& error) {
                                 if (error) return;
                                 slot.exit_watch.close();
                                 on_exit(slot);
                               });
  }

  void on_exit(Slot& slot) {
    const std::optional<ProcessEnd> end = slot.process->reap();
    slot.process.reset();
    slot.exit_text = describe_exit(end);
    // Its last words first: a task it finished is no death in a row, and a halt it asked for explains its
    // exit.
    QueueChanges changes = watch_.take();
    changes.ledgers.insert(slot.worker_id);
    changes.halt = true;
    absorb(changes);
    feed(slot, exit_event(end));
    settle();
  }

  void send(Slot& slot, int number) {
    if (!slot.process) return;
    const Status sent = slot.process->signal(number);
    if (!sent) log_.warning(sent.error().message);
  }

  // Nothing of the worker may be alive when its entries go back, so the sweep comes first, and its lock goes
  // last.
  void recover_entries(Slot& slot) {
    const std::string& id = slot.worker_id;
    Event event{format_utc(clock_.now()), "worker_exit",   "coordinator", "", 0, "", "",
                slot.exit_text,           {{"worker", id}}};
    if (const Status written = append_event(disk_, order_.layout, event); !written)
      log_.warning(written.error().message);
    display_.absorb(QueueChanges{{}, {event.writer}, false, false}, disk_);
    display_.worker_left(id);
    const auto swept = sweep_worker(order_.run_id, id);
    if (!swept)
      return problem(fmt::format("worker {}: {}; its task stays in running/", id, swept.error().message));
    if (*swept > 0) log_.warning(fmt::format("worker {} left {} processes, killed", id, *swept));
    const auto report = recover(disk_, clock_, order_.layout, order_.limits, order_.run_id,
                                [this](const std::string& owner) { return is_alive(owner); });
    if (!report)
      return problem(fmt::format("cannot recover the tasks of worker {}: {}", id, report.error().message));
    for (const std::string& warning : report->warnings) problem(warning);
    if (const Status retired = retire_worker(disk_, order_.layout, id); !retired)
      log_.warning(retired.error().message);
  }

  bool is_alive(const std::string& worker_id) const {
    return std::any_of(slots_.begin(), slots_.end(), [&](const auto& slot) {
      return slot->process.has_value() && slot->worker_id == worker_id;
    });
  }

  // Pending work for free slots, never more workers than tasks; then the end of the loop if nothing can
  // happen any more.
  void settle() {
    if (!outcome_.halt && !stopping_) give_work();
    const bool quiet = std::all_of(slots_.begin(), slots_.end(),
                                   [](const auto& slot) { return is_quiet(slot->record.state); });
    if (quiet) io_.stop();
  }

  void give_work() {
    const auto is_free = [](const Slot& slot) {
      return slot.record.state == SlotState::idle || slot.record.state == SlotState::backing_off;
    };
    if (std::none_of(slots_.begin(), slots_.end(), [&](const auto& slot) { return is_free(*slot); })) return;
    std::size_t left = display_.count_pending(disk_);
    for (const auto& slot : slots_) {
      if (!is_free(*slot)) continue;
      feed(*slot, left > 0 ? SlotEvent::work_left : SlotEvent::work_gone);
      if (left > 0 && has_worker(slot->record.state)) --left;
    }
  }

  // --- words ---
  void say(const std::string& text) {
    log_.info(text);
    if (!order_.json) console_.line(text);
  }
  void problem(const std::string& text) {
    log_.error(text);
    console_.error(text);
    outcome_.problems.push_back(text);
  }
  void draw() {
    std::vector<WorkerLine> workers;
    for (const auto& slot : slots_) {
      const bool works = slot->process.has_value();
      workers.push_back({works ? slot->worker_id : std::to_string(slot->number),
                         std::string(name_of(slot->record.state)),
                         {},
                         {}});
    }
    display_.draw(std::move(workers));
  }

  SupervisorOrder& order_;
  FileSystem& disk_;
  Clock& clock_;
  WorkerLauncher& launcher_;
  RunLog& log_;
  Console& console_;
  QueueWatch watch_;
  RunDisplay display_;
  asio::io_context io_{1};
  asio::signal_set signals_;
  asio::posix::stream_descriptor watch_stream_;
  asio::steady_timer tick_;
  std::vector<std::unique_ptr<Slot>> slots_;
  SupervisorOutcome outcome_;
  bool stopping_ = false;
};

}  // namespace

Result<SupervisorOutcome> supervise(SupervisorOrder order, FileSystem& disk, Clock& clock,
                                    WorkerLauncher& launcher, Console& console, RunLog& log) {
  ARENA_ASSIGN(QueueWatch watch, QueueWatch::open(order.layout));
  Supervisor supervisor(order, disk, clock, launcher, console, log, std::move(watch));
  return supervisor.run();
}

}  // namespace arena
