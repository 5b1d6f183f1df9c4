#pragma once
// Whole directory trees on the real disk: copy, remove, digest. Nothing here follows a symbolic link out of a
// tree except where the caller allows it, and removal copes with directories that lost their write
// permission.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace arena {

struct CopyOptions {
  // Relative path ('/' separators) -> leave it and everything below out.
  std::function<bool(const std::string& relative)> excluded = nullptr;
  // A symbolic link whose target lies outside the copied tree but below this directory is replaced by what it
  // points to (shared kit files). Any other link is copied as a link if it stays inside the tree, else
  // refused with its name; an absolute one never stays inside, because in the copy it would lead back to the
  // original.
  fs::path dereference_below;
  // v0.2's image seeding copies links as they are, wherever they lead.
  bool keep_outside_links = false;
};

struct TreeSize {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

// Copies the contents of `from` into `to` (created if missing; existing files are replaced). Copy-on-write
// where the file system can (FICLONE), else copy_file_range. Modes and mtimes are kept, owners are not.
// Sockets, FIFOs, devices: refused.
Result<TreeSize> copy_tree(const fs::path& from, const fs::path& to, const CopyOptions& options);

// Removes `path` with everything below; a missing path is fine.
Status remove_tree(const fs::path& path);

// SHA-256 over every file's relative path, kind, executable bit and contents (links that the copy would
// dereference count as their target), sorted by path. Two trees with the same digest give the same workspace.
Result<std::string> digest_tree(const fs::path& directory, const CopyOptions& options);

// The same over names, sizes, modes, link targets and mtimes in ns, without opening a file: unchanged means
// (for our own, trusted trees) that digest_tree is unchanged. The converse does not hold.
Result<std::string> stat_digest_tree(const fs::path& directory, const CopyOptions& options);

// Both in one walk. A file that changes meanwhile may have the new contents in one and the old time in the
// other, never the reverse: its time is taken first.
struct TreeDigests {
  std::string contents;
  std::string stat;
};
Result<TreeDigests> digests_of_tree(const fs::path& directory, const CopyOptions& options);

}  // namespace arena
