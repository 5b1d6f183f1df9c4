#pragma once
// The worker's log: v0.2's line format ("2026-06-17 10:15:00,123 - INFO - text"), flushed line by line so
// that a kill loses nothing. Text of agents and commands is only ever an argument, never a format, and
// prompts are not logged at all.
#include "base/path.h"
#include "base/result.h"

namespace arena {

enum class LogDetail { normal, verbose };

// Makes spdlog's default logger write to `file` (appended; its directory is created) and warnings to stderr.
// Without a file only the warnings.
Status open_worker_log(const fs::path& file, LogDetail detail);

}  // namespace arena
