// Any bytes, read whole and in pieces by every dialect: no crash, the same reading, a judgement.
#include <algorithm>
#include <cstdint>

#include "worker/agent_judgement.h"

namespace {

struct Read {
  arena::AgentReading reading;
  std::string log;
};

Read read(const arena::AgentSpec& spec, std::string_view bytes, std::size_t piece) {
  Read read;
  arena::AgentReader reader(spec, [&read](std::string_view text) { read.log += text; });
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
    reader.take(bytes.substr(0, piece));
  reader.finish();
  read.reading = reader.reading();
  return read;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const auto dialect : {arena::AgentDialect::plain, arena::AgentDialect::claude,
                             arena::AgentDialect::codex, arena::AgentDialect::cursor}) {
    arena::AgentSpec spec;
    spec.dialect = dialect;
    spec.final_events = {"result", "turn.completed", "turn.failed"};
    spec.outcomes = {{arena::AgentResult::auth, "result", "api_error_status", {"401"}, {}},
                     {arena::AgentResult::quota, "turn.failed", "error.message", {}, {"quota"}},
                     {arena::AgentResult::quota, "", "", {}, {"limit"}}};
    const Read whole = read(spec, bytes, bytes.size() + 1);
    const Read pieces = read(spec, bytes, 3);
    ARENA_ASSERT(whole.log == pieces.log);
    ARENA_ASSERT(whole.reading.events == pieces.reading.events &&
                 whole.reading.success == pieces.reading.success);
    const auto judged = arena::judge_agent(spec, whole.reading, arena::Exited{0}, false);
    ARENA_ASSERT(judged.text.find('\n') == std::string::npos);
    arena::consequence_of(spec, judged.result, whole.reading, false);
  }
  return 0;
}
