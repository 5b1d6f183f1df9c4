// Any bytes: no crash, and a configuration that is accepted is written and read back as the same.
#include <cstdint>

#include "model/run_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> warnings;
  const auto config =
      arena::parse_run_config({reinterpret_cast<const char*>(data), size}, "input", &warnings);
  if (!config) {
    ARENA_ASSERT(!config.error().message.empty());
    return 0;
  }
  const std::string written = arena::write_run_config(*config);
  const auto back = arena::parse_run_config(written, "written", nullptr);
  ARENA_ASSERT(back && arena::write_run_config(*back) == written);
  ARENA_ASSERT(arena::canonical_text(*back) == arena::canonical_text(*config));
  return 0;
}
