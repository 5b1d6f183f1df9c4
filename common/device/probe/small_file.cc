#include "device/probe/small_file.h"

#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace arena {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

bool natural_order(const std::string& a, const std::string& b) {
  return ::strverscmp(a.c_str(), b.c_str()) < 0;
}

}  // namespace

std::optional<std::string> read_small_file(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return std::nullopt;
  std::string text;
  std::array<char, 4096> bytes;
  ssize_t got = 0;
  while (text.size() < kMostBytes) {
    got = ::read(descriptor, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  if (got < 0) return std::nullopt;
  return std::string(trim(text));
}

std::optional<double> read_number(const fs::path& file) {
  const auto text = read_small_file(file);
  if (!text) return std::nullopt;
  const auto value = parse_integer(*text);
  return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}

std::vector<std::string> list_names(const fs::path& directory) {
  std::vector<std::string> names;
  boost::system::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end(), natural_order);
  return names;
}

}  // namespace arena
