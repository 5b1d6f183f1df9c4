#include "worker/program.h"

int main(int argc, char** argv) { return arena::run_worker_program(argc, argv); }
