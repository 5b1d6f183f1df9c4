#pragma once

namespace arena {

// The whole of arena-coord but main(), so that a test build can install a step hook first.
int run_coordinator_program(int argc, char** argv);

}  // namespace arena
