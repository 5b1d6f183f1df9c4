#include "coordinator/program.h"
#include "step_hook.h"

int main(int argc, char** argv) {
  arena::install_step_hook();
  return arena::run_coordinator_program(argc, argv);
}
