#pragma once
// The coordinator's log file below log_directory, in v0.2's name and line format. Every line is on disk when
// the call returns, so that a killed coordinator leaves its last words.
#include <memory>
#include <string>
#include <string_view>

#include "base/path.h"
#include "base/result.h"
#include "model/run_record.h"

namespace spdlog {
class logger;
}

namespace arena {

class RunLog {
 public:
  RunLog() = default;                                // writes nowhere
  static Result<RunLog> open(const fs::path& file);  // appends; makes the directory
  void info(std::string_view text);
  void warning(std::string_view text);
  void error(std::string_view text);
  const fs::path& file() const { return file_; }

 private:
  std::shared_ptr<spdlog::logger> logger_;
  fs::path file_;
};

// <gpu>_<agent>_<timestamp>[_suffix], the start of every log file's name of that run.
std::string log_name_start(const RunRecord& record);
// log_directory is relative to the workspace root, which lies two above the run directory.
fs::path log_directory_of(const RunRecord& record, const fs::path& run_directory);

}  // namespace arena
