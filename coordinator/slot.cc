#include "coordinator/slot.h"

namespace arena {

SlotEvent exit_event(const std::optional<ProcessEnd>& end) {
  if (!end) return SlotEvent::exited_unknown;
  const Exited* const exited = std::get_if<Exited>(&*end);
  if (exited == nullptr) return SlotEvent::exited_badly;
  switch (exited->code) {
    case 0:
    case 1:
      return SlotEvent::exited_done;
    case 2:
    case 5:  // its device
      return SlotEvent::exited_unusable;
    case 3:
      return SlotEvent::exited_halted;
    default:
      return SlotEvent::exited_badly;
  }
}

std::string describe_exit(const std::optional<ProcessEnd>& end) {
  return end ? describe(*end) : "exit unknown (started by an earlier coordinator)";
}

}  // namespace arena
