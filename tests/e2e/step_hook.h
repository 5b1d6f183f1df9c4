#pragma once
// For the crash tests: stops this process at a marked step (base/step.h), as the environment says.
//   ARENA_TEST_STEP=NAME[:N]          the step, and the how manyth time it is reached (default 1)
//   ARENA_TEST_STEP_ACTION=kill|stop  SIGKILL (default) or SIGSTOP to itself; a stopped process goes on after
//   SIGCONT
// A specification that cannot be read ends the process with exit code 2, so that no test passes by a
// misspelling.

namespace arena {

void install_step_hook();  // before any thread starts; nothing happens when ARENA_TEST_STEP is not set

}  // namespace arena
