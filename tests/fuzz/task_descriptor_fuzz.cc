// Any bytes, as they are and under a good seal: no crash, and what is accepted is written and read back as
// the same.
#include <cstdint>

#include "base/sealed_text.h"
#include "model/task_descriptor.h"
#include "model/worker_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(arena::read_descriptor(text, "input"));
  static_cast<void>(arena::read_foreign_descriptor(text, "input"));
  const std::string sealed = arena::seal(text);
  if (const auto descriptor = arena::read_descriptor(sealed, "input")) {
    const std::string written = arena::write_descriptor(*descriptor);
    const auto back = arena::read_descriptor(written, "written");
    ARENA_ASSERT(back && arena::write_descriptor(*back) == written);
  }
  if (const auto record = arena::read_worker_record(sealed, "input")) {
    const std::string written = arena::write_worker_record(*record);
    const auto back = arena::read_worker_record(written, "written");
    ARENA_ASSERT(back && arena::write_worker_record(*back) == written);
  }
  return 0;
}
