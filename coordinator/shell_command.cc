#include "coordinator/shell_command.h"

namespace arena {

std::string shell_quoted(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string resume_command(const fs::path& run_directory, const std::vector<std::string>& more) {
  std::string command = "arena-coord --resume-run " + shell_quoted(run_directory.string());
  for (const std::string& word : more) command += " " + shell_quoted(word);
  return command;
}

}  // namespace arena
