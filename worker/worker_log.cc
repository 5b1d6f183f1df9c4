#include "worker/worker_log.h"

#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace arena {

namespace {

// Level names as Python's logging writes them.
class LevelName final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& line) override {
    static constexpr std::string_view kNames[] = {"DEBUG", "DEBUG",    "INFO", "WARNING",
                                                  "ERROR", "CRITICAL", "OFF"};
    const std::string_view name = kNames[message.level];
    line.append(name.data(), name.data() + name.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<LevelName>(); }
};

}  // namespace

Status open_worker_log(const fs::path& file, LogDetail detail) {
  try {
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<LevelName>('*').set_pattern("%Y-%m-%d %H:%M:%S,%e - %* - %v");
    auto warnings = std::make_shared<spdlog::sinks::stderr_sink_st>();
    warnings->set_level(spdlog::level::warn);
    std::vector<spdlog::sink_ptr> sinks{warnings};
    if (!file.empty()) {
      boost::system::error_code problem;
      fs::create_directories(file.parent_path(), problem);
      sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_st>(file.string()));
    }
    auto logger = std::make_shared<spdlog::logger>("arena-worker", sinks.begin(), sinks.end());
    logger->set_formatter(std::move(formatter));
    logger->set_level(detail == LogDetail::verbose ? spdlog::level::debug : spdlog::level::info);
    logger->flush_on(spdlog::level::info);
    spdlog::set_default_logger(std::move(logger));
  } catch (const spdlog::spdlog_ex& error) {
    return fail(ErrorCode::io, fmt::format("cannot open log file '{}': {}", file.string(), error.what()));
  }
  return {};
}

}  // namespace arena
