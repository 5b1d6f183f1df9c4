#pragma once
// Whether this process may open a device node, and if not, what would mend it.
#include <string>

#include "base/path.h"

namespace arena {

struct DeviceNode {
  int error = 0;        // errno of opening it for reading and writing
  std::string group;    // its group's name, or number where it has none; empty if there is no node
  std::string message;  // one line, when error is not 0
};

// `path` is absolute below `root`.
DeviceNode look_at_device_node(const fs::path& root, const std::string& path);

}  // namespace arena
