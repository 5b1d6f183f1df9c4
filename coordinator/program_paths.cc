#include "coordinator/program_paths.h"

#include <fmt/format.h>

namespace arena {

Result<ProgramPaths> find_program_paths() {
  boost::system::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error)
    return fail(ErrorCode::io, fmt::format("cannot find out where arena-coord lies: {}", error.message()));
  return ProgramPaths{self.parent_path() / "arena-worker", self.parent_path() / "arena-probe",
                      self.parent_path().parent_path() / "share" / "arena"};
}

}  // namespace arena
