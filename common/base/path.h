#pragma once
// The one file-system library of the project: Boost.Filesystem, always through the non-throwing calls.
#include <boost/filesystem/operations.hpp>
#include <boost/filesystem/path.hpp>

namespace arena {
namespace fs = boost::filesystem;
}  // namespace arena
