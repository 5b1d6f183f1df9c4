#pragma once
// Marked steps of the queue's transitions. In the shipped programs a step does nothing; the test build of the
// programs (tests/e2e) installs a hook that stops the process at a chosen step, and recovery is checked from
// there.
#include <string_view>

namespace arena {

using StepHook = void (*)(std::string_view name);
void set_step_hook(StepHook hook);  // before any thread starts; null switches it off
void step(std::string_view name);

}  // namespace arena
