#include "step_hook.h"
#include "worker/program.h"

int main(int argc, char** argv) {
  arena::install_step_hook();
  return arena::run_worker_program(argc, argv);
}
