#pragma once
// The one walk behind copy and digest, for the files of this directory only, so that both see the same tree:
// sorted by name, excluded paths left out, symbolic links resolved by the rules in CopyOptions.
#include <sys/stat.h>

#include <string>

#include "os/descriptor.h"
#include "os/tree.h"

namespace arena {

struct TreeEntry {
  std::string relative;  // in the tree as the copy will have it
  int directory = -1;    // `name` is to be opened relative to it
  std::string name;
  struct stat info {};  // of the target, if the link is replaced by it
  std::string base_name() const { return relative.substr(relative.rfind('/') + 1); }  // npos + 1 is 0
};

class TreeVisitor {
 public:
  virtual ~TreeVisitor() = default;
  virtual Status enter_directory(const TreeEntry& entry) = 0;
  virtual Status leave_directory(const TreeEntry& entry) = 0;
  virtual Status file(const TreeEntry& entry) = 0;
  virtual Status link(const TreeEntry& entry, const std::string& target) = 0;
};

// `root` is not visited itself. Stops at the first error, the visitor's included.
Status walk_tree(const fs::path& root, const CopyOptions& options, TreeVisitor& visitor);

// Names in an open directory from its position on, without . and .., sorted; 0 or errno.
int list_at(int directory, std::vector<std::string>& names);

}  // namespace arena
