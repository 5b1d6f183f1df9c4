#pragma once
// torch2flydsl starts from stubs: a candidate counts only if every target function is defined and no bare
// stub any more.
#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"
#include "model/task_spec.h"

namespace arena {

enum class KernelDefinition { missing, stub, implemented };

// Looks for `name` as a top-level `def` in Python source. A stub's body is nothing but a doc string and
// `raise NotImplementedError`, with or without text. The last definition counts, as it does for Python.
KernelDefinition find_kernel_definition(std::string_view source, std::string_view name);

// What is wrong with the target functions of `spec` in the source files below `directory`, or empty.
std::string find_kernel_stubs(const fs::path& directory, const TaskSpec& spec);

}  // namespace arena
