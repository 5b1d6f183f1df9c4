#pragma once
// One slot of the supervisor: its device, its state in supervision.h's table, and the worker it has now.
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "coordinator/supervision.h"
#include "os/process.h"

namespace arena {

struct Slot {
  Slot(boost::asio::io_context& io, std::int64_t slot_number, std::string slot_device)
      : number(slot_number), device(std::move(slot_device)), exit_watch(io), timer(io) {}
  std::int64_t number;
  std::string device;
  SlotRecord record;
  std::string worker_id;  // of the present or last worker
  std::optional<LaunchedProcess> process;
  std::string exit_text;  // how the last worker ended, for people
  boost::asio::posix::stream_descriptor exit_watch;
  boost::asio::steady_timer timer;
};

// The supervisor's event for a worker's end, and its words. `end` is empty for an adopted worker.
SlotEvent exit_event(const std::optional<ProcessEnd>& end);
std::string describe_exit(const std::optional<ProcessEnd>& end);

}  // namespace arena
