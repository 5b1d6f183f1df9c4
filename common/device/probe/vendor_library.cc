#include "device/probe/vendor_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include <fmt/format.h>

namespace arena {

Result<VendorLibrary> VendorLibrary::open(const std::vector<std::string>& names,
                                          const std::vector<std::string>& directories) {
  std::vector<std::string> candidates = names;
  for (const std::string& directory : directories) {
    for (const std::string& name : names) candidates.push_back(fmt::format("{}/{}", directory, name));
  }
  std::string broken;  // a file that is there and cannot be loaded says more than one that is not
  for (const std::string& candidate : candidates) {
    if (void* const handle = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL))
      return VendorLibrary(candidate, handle);
    const char* const error = ::dlerror();
    const std::string why = error == nullptr ? "unknown reason" : error;
    const bool absent = why.starts_with(candidate) && why.find("No such file") != std::string::npos;
    if (!absent && broken.empty()) broken = why;
  }
  if (!broken.empty()) return fail(ErrorCode::io, fmt::format("cannot load {}", broken));
  std::string tried;
  for (const std::string& name : names) tried += (tried.empty() ? "" : ", ") + name;
  return fail(ErrorCode::not_found, fmt::format("{} is not installed", tried));
}

void* VendorLibrary::find_symbol(const char* symbol) const { return ::dlsym(handle_, symbol); }

std::vector<std::string> rocm_directories() {
  std::vector<std::string> directories;
  if (const char* const path = std::getenv("ROCM_PATH"); path != nullptr && *path != '\0')
    directories.push_back(std::string(path) + "/lib");
  directories.push_back("/opt/rocm/lib");
  return directories;
}

std::vector<std::string> nvidia_directories() { return {"/usr/local/nvidia/lib64", "/usr/lib/wsl/lib"}; }

}  // namespace arena
