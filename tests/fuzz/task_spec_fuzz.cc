// Any bytes: no crash, and no path of an accepted task leads out of it.
#include <cstdint>

#include "base/text.h"
#include "model/task_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> warnings;
  const auto spec = arena::parse_task_spec({reinterpret_cast<const char*>(data), size}, "input", &warnings);
  if (!spec) return 0;
  for (const std::string& file : arena::editable_files(*spec)) {
    ARENA_ASSERT(!file.empty() && file[0] != '/');
    for (const std::string& part : arena::split(file, "/")) ARENA_ASSERT(part != "..");
  }
  static_cast<void>(arena::platform_skip_reason(spec->platform, "gfx942"));
  return 0;
}
