#pragma once
// Commands that are printed for a person to paste.
#include <string>
#include <vector>

#include "base/path.h"

namespace arena {

// `word` as a POSIX shell reads it back, quoted only where needed.
std::string shell_quoted(const std::string& word);
// "arena-coord --resume-run /path [MORE…]".
std::string resume_command(const fs::path& run_directory, const std::vector<std::string>& more = {});

}  // namespace arena
