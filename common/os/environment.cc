#include "os/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "os/file_system.h"

namespace arena {

EnvironmentMap current_environment() {
  EnvironmentMap variables;
  for (char** item = environ; item != nullptr && *item != nullptr; ++item) {
    const std::string_view text = *item;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && equals > 0)
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

EnvironmentMap select_environment(const EnvironmentMap& environment,
                                  const std::vector<std::string>& allowed) {
  const auto fits = [](std::string_view name, std::string_view pattern) {
    if (pattern.empty() || pattern.back() != '*') return name == pattern;
    pattern.remove_suffix(1);
    return name.substr(0, pattern.size()) == pattern;
  };
  EnvironmentMap selected;
  for (const auto& variable : environment) {
    if (std::any_of(allowed.begin(), allowed.end(),
                    [&](const std::string& pattern) { return fits(variable.first, pattern); })) {
      selected.insert(variable);
    }
  }
  return selected;
}

const std::vector<std::string>& device_environment_names() {
  static const std::vector<std::string> names = {
      "ROCR_VISIBLE_DEVICES", "CUDA_*", "GPU_DEVICE_ORDINAL", "NVIDIA_*", "PYTORCH_ROCM_ARCH",   "HIP_*",
      "AMDGPU_TARGETS",       "ROCM_*", "GPU_TARGETS",        "HSA_*",    "AGENT_KERNEL_ARENA_*"};
  return names;
}

const std::vector<std::string>& basic_environment_names() {
  static const std::vector<std::string> names{"PATH",
                                              "LANG",
                                              "LANGUAGE",
                                              "LC_*",
                                              "TZ",
                                              "TERM",
                                              "USER",
                                              "LOGNAME",
                                              "SHELL",
                                              "LD_LIBRARY_PATH",
                                              "CC",
                                              "CXX",
                                              "CFLAGS",
                                              "CXXFLAGS",
                                              "CPPFLAGS",
                                              "LDFLAGS",
                                              "CPATH",
                                              "LIBRARY_PATH",
                                              "PKG_CONFIG_PATH",
                                              "CMAKE_PREFIX_PATH",
                                              "MAKEFLAGS",
                                              "PYTHONPATH",
                                              "VIRTUAL_ENV",
                                              "CONDA_PREFIX",
                                              "ROCM_PATH",
                                              "ROCM_HOME",
                                              "HIP_PATH",
                                              "HIP_PLATFORM",
                                              "HIP_CLANG_PATH",
                                              "DEVICE_LIB_PATH",
                                              "CUDA_HOME",
                                              "CUDA_PATH",
                                              "SSL_CERT_FILE",
                                              "SSL_CERT_DIR",
                                              "REQUESTS_CA_BUNDLE",
                                              "OMP_NUM_THREADS"};
  return names;
}

Result<EnvironmentMap> private_environment(const fs::path& directory) {
  struct Variable {
    const char* name;
    const char* below;
  };
  static constexpr Variable kVariables[] = {
      {"HOME", "home"},
      {"TMPDIR", "tmp"},
      {"TMP", "tmp"},
      {"TEMP", "tmp"},
      {"XDG_CACHE_HOME", "cache"},
      {"XDG_CONFIG_HOME", "home/.config"},
      {"XDG_DATA_HOME", "home/.local/share"},
      {"XDG_STATE_HOME", "home/.local/state"},
      {"XDG_RUNTIME_DIR", "runtime"},
      {"TRITON_HOME", "cache/triton_home"},
      {"TRITON_CACHE_DIR", "cache/triton"},
      {"TORCH_HOME", "cache/torch"},
      {"TORCH_EXTENSIONS_DIR", "cache/torch_extensions"},
      {"TORCHINDUCTOR_CACHE_DIR", "cache/inductor"},
      {"PYTORCH_KERNEL_CACHE_PATH", "cache/torch_kernels"},
      {"MIOPEN_USER_DB_PATH", "cache/miopen_db"},
      {"MIOPEN_CUSTOM_CACHE_DIR", "cache/miopen"},
      {"AMD_COMGR_CACHE_DIR", "cache/comgr"},
      {"CUDA_CACHE_PATH", "cache/cuda"},
      {"CUPY_CACHE_DIR", "cache/cupy"},
      {"NUMBA_CACHE_DIR", "cache/numba"},
      {"TILELANG_CACHE_DIR", "cache/tilelang"},
      {"FLYDSL_RUNTIME_CACHE_DIR", "cache/flydsl"},
      {"PIP_CACHE_DIR", "cache/pip"},
      {"UV_CACHE_DIR", "cache/uv"},
      {"CCACHE_DIR", "cache/ccache"},
      {"NPM_CONFIG_CACHE", "cache/npm"},
      {"MPLCONFIGDIR", "cache/matplotlib"},
      {"IPYTHONDIR", "home/.ipython"},
      {"PYTHONUSERBASE", "home/.local"},
      {"PYTHONPYCACHEPREFIX", "cache/pycache"},
  };
  RealFileSystem disk;
  for (const char* const below : {"home", "tmp", "cache", "runtime"})
    ARENA_TRY(make_directories(disk, directory / below));
  boost::system::error_code error;
  fs::permissions(directory / "runtime", fs::owner_all,
                  error);  // programs refuse a runtime directory that others can read
  if (error) return fail(error_from_errno(error.value(), "restrict", (directory / "runtime").native()));
  EnvironmentMap variables;
  for (const Variable& variable : kVariables)
    variables.emplace(variable.name, (directory / variable.below).native());
  // Programs ask for the user's name, and a container's user need not be in its passwd file.
  const char* const user = std::getenv("USER");
  variables["USER"] = variables["LOGNAME"] = user != nullptr && *user != '\0' ? user : "arena";
  return variables;
}

}  // namespace arena
