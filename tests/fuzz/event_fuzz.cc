// Any bytes: no crash, and an event that is read is written and read back as the same.
#include <cstdint>

#include "model/event.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string written;
  const auto events = arena::read_events({reinterpret_cast<const char*>(data), size});
  for (const arena::Event& event : events) written += arena::write_event(event);
  std::string again;
  const auto back = arena::read_events(written);
  for (const arena::Event& event : back) again += arena::write_event(event);
  ARENA_ASSERT(back.size() == events.size() && again == written);
  return 0;
}
