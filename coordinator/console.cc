#include "coordinator/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <cerrno>
#include <cstdlib>

namespace arena {

namespace {

constexpr int kUsualWidth = 80;
constexpr int kUsualHeight = 24;

bool set_and_not_empty(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && value[0] != '\0';
}

bool is_dumb_terminal() {
  const char* const term = std::getenv("TERM");
  return term == nullptr || std::string_view(term).empty() || std::string_view(term) == "dumb";
}

}  // namespace

Console::Console(int output, int errors, bool quiet)
    : output_(output),
      errors_(errors),
      quiet_(quiet),
      terminal_(::isatty(output) == 1 && !is_dumb_terminal()),
      color_(terminal_ && !set_and_not_empty("NO_COLOR")) {}

int Console::width() const {
  winsize size{};
  if (::ioctl(output_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualWidth;
  return size.ws_col;
}

int Console::height() const {
  winsize size{};
  if (::ioctl(output_, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return kUsualHeight;
  return size.ws_row;
}

void Console::write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty() && !lost_) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      lost_ = descriptor == output_;  // a closed stderr alone must not silence the results
      return;
    }
  }
}

std::string Console::erase_display() {
  if (display_.empty()) return "";
  return fmt::format("\r\x1b[{}A\x1b[J", display_.size());
}

void Console::line(std::string_view text) {
  if (!quiet_) result(text);
}

void Console::result(std::string_view text) {
  std::string bytes = erase_display();
  bytes.append(text);
  if (!text.ends_with('\n')) bytes += '\n';
  for (const std::string& display_line : display_) bytes += display_line + "\n";
  write_all(output_, bytes);
}

void Console::error(std::string_view text) {
  const std::vector<std::string> display = display_;
  draw({});
  write_all(errors_, fmt::format("arena-coord: {}\n", text));
  draw(display);
}

void Console::draw(const std::vector<std::string>& lines) {
  if (!terminal_ || quiet_ || (lines.empty() && display_.empty())) return;
  std::string bytes = erase_display();
  for (const std::string& display_line : lines) bytes += display_line + "\n";
  display_ = lines;
  write_all(output_, bytes);
}

}  // namespace arena
