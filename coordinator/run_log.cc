#include "coordinator/run_log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <fmt/format.h>

namespace arena {

namespace {

// Level names as Python's logging writes them.
class LevelName final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const std::string_view name = message.level == spdlog::level::err     ? "ERROR"
                                  : message.level == spdlog::level::warn  ? "WARNING"
                                  : message.level == spdlog::level::debug ? "DEBUG"
                                                                          : "INFO";
    out.append(name.data(), name.data() + name.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<LevelName>(); }
};

}  // namespace

Result<RunLog> RunLog::open(const fs::path& file) {
  RunLog log;
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string());
    log.logger_ = std::make_shared<spdlog::logger>("arena-coord", std::move(sink));
  } catch (const spdlog::spdlog_ex& error) {
    return fail(ErrorCode::io, fmt::format("cannot write the log '{}': {}", file.string(), error.what()));
  }
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelName>('N').set_pattern("%Y-%m-%d %H:%M:%S,%e - %N - %v");
  log.logger_->set_formatter(std::move(formatter));
  log.logger_->set_error_handler(
      [](const std::string&) {});  // a full disk is reported by the queue, not by each log line
  log.logger_->flush_on(spdlog::level::info);
  log.file_ = file;
  return log;
}

// The text is always an argument: braces in it are no format.
void RunLog::info(std::string_view text) {
  if (logger_) logger_->info("{}", text);
}
void RunLog::warning(std::string_view text) {
  if (logger_) logger_->warn("{}", text);
}
void RunLog::error(std::string_view text) {
  if (logger_) logger_->error("{}", text);
}

std::string log_name_start(const RunRecord& record) {
  const std::string stamp = record.run_name.starts_with("run_") ? record.run_name.substr(4) : record.run_name;
  return fmt::format("{}_{}_{}", record.config.target_gpu_model, record.config.agent.template_name, stamp);
}

fs::path log_directory_of(const RunRecord& record, const fs::path& run_directory) {
  return (run_directory.parent_path().parent_path() / record.config.log_directory).lexically_normal();
}

}  // namespace arena
