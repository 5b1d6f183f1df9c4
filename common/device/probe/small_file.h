#pragma once
// The little files of /sys and /proc.
#include <optional>
#include <string>
#include <vector>

#include "base/path.h"

namespace arena {

// Without blanks at the ends; nothing if it cannot be read. Blocks for as long as the driver behind it does.
std::optional<std::string> read_small_file(const fs::path& file);
std::optional<double> read_number(const fs::path& file);  // decimal
// Names in a directory, sorted with numbers in them compared as numbers (card2 before card10); empty if there
// is none.
std::vector<std::string> list_names(const fs::path& directory);

}  // namespace arena
