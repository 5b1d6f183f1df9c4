// Any bytes, as they are and under a good seal: no crash, and what is accepted is written and read back as
// the same.
#include <cstdint>

#include "base/sealed_text.h"
#include "model/run_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(arena::read_run_record(text, "input"));
  if (const auto record = arena::read_run_record(arena::seal(text), "input")) {
    const std::string written = arena::write_run_record(*record);
    const auto back = arena::read_run_record(written, "written");
    ARENA_ASSERT(back && arena::write_run_record(*back) == written);
  }
  return 0;
}
