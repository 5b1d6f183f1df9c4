#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "coordinator/catalog.h"
#include "coordinator/commands.h"

namespace arena {

namespace {

std::string remark_on(const CatalogTask& task) {
  if (!task.problem.empty()) return task.problem;
  if (!task.spec.unsupported.empty()) return task.spec.unsupported;
  if (task.spec.platform.skip) return "skipped: " + task.spec.platform.skip_reason;
  std::string architectures;
  for (const std::string& name : task.spec.platform.required_arch)
    architectures += (architectures.empty() ? "needs " : " or ") + name;
  return architectures;
}

}  // namespace

int list_tasks(const Options& options, World& world) {
  const fs::path directory =
      options.tasks_directory.empty() ? world.paths.data / "tasks" : options.tasks_directory;
  const std::vector<std::string> selectors =
      options.names.empty() ? std::vector<std::string>{"all"} : options.names;
  const auto tasks = load_catalog(directory, selectors);
  if (!tasks) return report_error({ErrorCode::invalid_input, tasks.error().message}, world.console);
  if (options.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const CatalogTask& task : *tasks) {
      json.push_back({{"name", task.name},
                      {"type", task.spec.task_type},
                      {"directory", task.directory.string()},
                      {"remark", remark_on(task)}});
    }
    world.console.result(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return kAllDone;
  }
  for (const CatalogTask& task : *tasks) {
    const std::string remark = remark_on(task);
    world.console.result(remark.empty() ? task.name : fmt::format("{}  ({})", task.name, remark));
    if (options.verbosity > 0) {
      for (const std::string& warning : task.warnings) world.console.result("  " + warning);
    }
  }
  world.console.line(fmt::format("{} tasks", tasks->size()));
  return kAllDone;
}

}  // namespace arena
