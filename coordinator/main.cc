#include "coordinator/program.h"

int main(int argc, char** argv) { return arena::run_coordinator_program(argc, argv); }
