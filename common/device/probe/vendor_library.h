#pragma once
// A vendor's library, opened at run time: one set of binaries starts on every machine. Functions are looked
// up by name; one that this version lacks is null. Stays open until the process ends, because such libraries
// leave threads behind.
#include <string>
#include <vector>

#include "base/result.h"

namespace arena {

class VendorLibrary {
 public:
  // The first of `names` that can be opened, looked for where the loader looks and then in `directories`.
  static Result<VendorLibrary> open(const std::vector<std::string>& names,
                                    const std::vector<std::string>& directories);
  const std::string& name() const { return name_; }
  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(find_symbol(symbol));
  }

 private:
  VendorLibrary(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}
  void* find_symbol(const char* symbol) const;
  std::string name_;
  void* handle_;
};

// Where ROCm installs its libraries: $ROCM_PATH/lib and /opt/rocm/lib.
std::vector<std::string> rocm_directories();
std::vector<std::string> nvidia_directories();

// Calls a function that may be absent; `missing` is what the library answers for "not supported".
template <class Status, class Function, class... Arguments>
Status call_if_there(Function* function, Status missing, Arguments... arguments) {
  return function != nullptr ? static_cast<Status>(function(arguments...)) : missing;
}

}  // namespace arena
