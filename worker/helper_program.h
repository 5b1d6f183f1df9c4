#pragma once
// What arena-worker does besides working, for the coordinator, because it has to happen where the workers are
// (in a container, for one):
//   arena-worker check-agent --settings FILE     one JSON line per finding; exit code 1 if one is not ok
//   arena-worker prompt --settings FILE --task NAME --tasks-dir DIR     the prompt of that task
// FILE is a run configuration.
namespace arena {

bool is_helper_call(int argc, const char* const* argv);
int run_helper(int argc, const char* const* argv);

}  // namespace arena
