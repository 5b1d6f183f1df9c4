#pragma once
// Environments of children are built from an allow-list: nothing of ours leaks by accident.
#include <string>
#include <vector>

#include "os/process.h"

namespace arena {

// The calling process's environment, read once.
EnvironmentMap current_environment();

// Those variables of `environment` whose names are in `allowed` (a trailing '*' matches any rest).
EnvironmentMap select_environment(const EnvironmentMap& environment, const std::vector<std::string>& allowed);

// PATH, locale, time zone, compilers: what any build needs and no secret.
const std::vector<std::string>& basic_environment_names();

// Devices and their tool chains: what workers, task commands and agents see besides the basic names. Which
// device is visible, a mask decides afterwards.
const std::vector<std::string>& device_environment_names();

// Private home, tmp, cache and runtime directories below `directory` (absolute; the four are created, tools
// create what they want in them), with every variable that tools look at, and USER and LOGNAME, which a
// container's user may lack: HOME, TMPDIR, XDG_*, TRITON_CACHE_DIR, TORCH_EXTENSIONS_DIR,
// TORCHINDUCTOR_CACHE_DIR, MIOPEN_*, MPLCONFIGDIR, PYTHONUSERBASE, …
Result<EnvironmentMap> private_environment(const fs::path& directory);

}  // namespace arena
