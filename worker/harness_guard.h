#pragma once
// Which of an agent's changes reach the evaluation. The rule for trust: the evaluation starts from a pristine
// copy, and only what plan_takeover names is brought over; everything else the agent changed is recorded and
// left behind.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "worker/untrusted_tree.h"

namespace arena {

// v0.2's protected names, anywhere in the path: script(s)/ and test(s)/ directories, config.yaml,
// conftest.py, performance_utils_pytest.py, and *_test.{py,cpp,cu,hip} and *_harness.py. They matter where
// the whole tree is the candidate.
bool is_protected_path(std::string_view relative);

// Neither compared nor taken over: .git and __pycache__ anywhere, and the reference solution/ at the top.
bool is_ignored_path(std::string_view relative);

struct Takeover {
  std::vector<std::string> changed;  // new or different regular files: copied into the evaluation
  std::vector<std::string> removed;  // gone (or no regular file any more): removed there too
  std::vector<std::string> ignored;  // changed, but not the agent's to change
};

// `editable` names files, or directories for everything below; when it is empty, every path that is not
// protected is editable. `differs` is asked about paths that are regular files of equal size in both trees.
// Pure otherwise; all lists are sorted.
Takeover plan_takeover(const TreeListing& pristine, const TreeListing& workspace,
                       const std::vector<std::string>& editable,
                       const std::function<bool(const std::string& relative)>& differs);

}  // namespace arena
