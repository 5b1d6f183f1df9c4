#pragma once
// Where this program's companions lie: arena-worker and arena-probe beside it, data in ../share/arena, in the
// build tree as when installed.
#include "base/path.h"
#include "base/result.h"

namespace arena {

struct ProgramPaths {
  fs::path worker;  // arena-worker
  fs::path probe;   // arena-probe
  fs::path data;    // agents/, prompts/, tasks/
};

Result<ProgramPaths> find_program_paths();

}  // namespace arena
