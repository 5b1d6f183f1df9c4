#include "device/probe/see.h"

#include <cstring>

#include <fmt/format.h>

namespace arena {

namespace {

using Json = nlohmann::ordered_json;

ChildJob job_of(RuntimeKind kind, RuntimeView (*see)()) {
  return {[kind, see](const ChildReport& report) {
    report.sink().reading(std::string(name_of(kind)), "");
    report.send({{"view", to_json(see())}});
  }};
}

RuntimeView assemble(RuntimeKind kind, const ChildOutcome& outcome) {
  RuntimeView view;
  view.kind = kind;
  for (const Json& line : outcome.lines) {
    if (const auto found = line.find("view"); found != line.end()) {
      if (auto seen = view_from_json(*found)) return *seen;
    }
  }
  if (outcome.end == ChildOutcome::End::hung) {
    view.state = SourceState::hung;
    view.message = fmt::format("the {} runtime did not answer in time", name_of(kind));
  } else {
    view.state = SourceState::failed;
    view.message = fmt::format("the {} runtime crashed{}{}{}", name_of(kind),
                               outcome.signal != 0 ? fmt::format(" ({})", ::strsignal(outcome.signal)) : "",
                               outcome.noise.empty() ? "" : "; it wrote: ", outcome.noise);
  }
  return view;
}

}  // namespace

std::vector<RuntimeView> see_devices(const ChildLimits& limits) {
  const std::vector<ChildOutcome> outcomes =
      run_children({job_of(RuntimeKind::hip, see_hip), job_of(RuntimeKind::hsa, see_hsa),
                    job_of(RuntimeKind::cuda, see_cuda)},
                   limits);
  return {assemble(RuntimeKind::hip, outcomes[0]), assemble(RuntimeKind::hsa, outcomes[1]),
          assemble(RuntimeKind::cuda, outcomes[2])};
}

}  // namespace arena
