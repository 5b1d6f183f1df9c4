#pragma once
// arena-worker as a function, so that the test build of the program can install a step hook first.

namespace arena {

int run_worker_program(int argc, char** argv);  // the exit code, see WorkerExit

}  // namespace arena
