// Results: our own under their seal, and those of v0.2 and v0.3, which have none. What is read can be written
// and read again, and no formula makes a score of it that is negative or no number.
#include <cmath>
#include <cstdint>

#include "base/sealed_text.h"
#include "model/score.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ARENA_ASSERT(!arena::is_result_of(text, "", "", 0));  // empty names fit no result
  for (const bool own : {false, true}) {
    // A fuzzer does not find seals by itself.
    auto result = own ? arena::read_task_result(arena::seal(std::string(text)), "task_result.yaml")
                      : arena::read_foreign_task_result(text, "task_result.yaml");
    if (!result) continue;
    for (const auto formula :
         {arena::ScoreFormula::points, arena::ScoreFormula::points_strict, arena::ScoreFormula::bounded}) {
      const double score = arena::compute_score(formula, *result);
      ARENA_ASSERT(std::isfinite(score) && score >= 0);
    }
    if (result->run_id.empty()) result->run_id = "0123456789abcdef";
    const std::string written = arena::write_task_result(*result);
    const auto again = arena::read_task_result(written, "task_result.yaml");
    ARENA_ASSERT(again.has_value());
    ARENA_ASSERT(arena::write_task_result(*again) == written);
    ARENA_ASSERT(arena::is_result_of(written, result->run_id, result->task_name, result->attempt));
  }
  return 0;
}
