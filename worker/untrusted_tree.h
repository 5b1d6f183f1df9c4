#pragma once
// Reading a tree that an untrusted program wrote. No symbolic link in it is ever followed, nothing but
// regular files is opened, and every path stays beneath the root, whatever was planted there.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace arena {

struct TreeEntry {
  enum class Kind { file, link, other };  // other: FIFO, socket, device
  Kind kind = Kind::file;
  std::uint64_t size = 0;   // of a file
  std::string link_target;  // of a link
};

// Everything below a root but directories, by path relative to it. Directories that cannot be read are left
// out.
using TreeListing = std::map<std::string, TreeEntry, std::less<>>;

// Names that never belong to a candidate are not listed: see is_ignored_path (harness_guard.h).
Result<TreeListing> list_tree(const fs::path& root);

// Do two files of one relative path hold the same bytes? False if either cannot be read as a regular file.
bool same_contents(const fs::path& root, const fs::path& other_root, const std::string& relative);

// The contents of a regular file beneath `root`; corrupt if it is anything else or above `limit` bytes.
Result<std::string> read_beneath(const fs::path& root, const std::string& relative, std::uint64_t limit);

// Copies a regular file beneath `from` to the same path beneath `to`, replacing what is there and keeping
// only the executable bit of its mode. Parent directories are made; a link or file in their place is removed
// first.
Status copy_beneath(const fs::path& from, const fs::path& to, const std::string& relative);

// Makes every file of `relatives` beneath `root`, and the directories they lie in, survive power loss.
Status sync_files(const fs::path& root, const std::vector<std::string>& relatives);

// Removes the entry of that path beneath `root`, of whatever kind; a missing one is fine.
Status remove_beneath(const fs::path& root, const std::string& relative);

}  // namespace arena
