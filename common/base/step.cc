#include "base/step.h"

namespace arena {

namespace {
StepHook step_hook = nullptr;
}  // namespace

void set_step_hook(StepHook hook) { step_hook = hook; }

void step(std::string_view name) {
  if (step_hook != nullptr) step_hook(name);
}

}  // namespace arena
