// Performance reports, printed and in JSON, and perf files: whatever a task writes. No input may crash a
// reader, every case is valid or says why not, and what was read survives the way through a perf file.
#include <cmath>
#include <cstdint>

#include "model/timing.h"

namespace {

void check(const std::vector<arena::TimedCase>& cases) {
  for (const arena::TimedCase& timed : cases) {
    ARENA_ASSERT(std::isfinite(timed.time_ms));
    ARENA_ASSERT(!timed.is_valid() || timed.time_ms > 0);
  }
  const arena::SpeedupResult speedup = arena::compute_speedup(cases, cases);
  ARENA_ASSERT(speedup.speedup.has_value() == speedup.problem.empty());
  ARENA_ASSERT(!speedup.speedup || *speedup.speedup == 1);
  const auto again = arena::read_perf_yaml(arena::write_perf_yaml(cases), "perf.yaml");
  ARENA_ASSERT(again.has_value() && *again == cases);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool torch2hip : {false, true}) {
    const auto cases = arena::parse_report_json(text, {arena::TimedSide::baseline, torch2hip});
    if (cases) check(*cases);
  }
  check(arena::parse_report_stdout(text));
  if (const auto cases = arena::read_perf_yaml(text, "perf.yaml")) check(*cases);
  return 0;
}
