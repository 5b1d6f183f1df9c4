#include "coordinator/event_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "os/file_system.h"

namespace arena {

namespace {

constexpr std::string_view kSuffix = ".jsonl";

// Bytes of `file` from `offset` to its end.
std::string read_from(const fs::path& file, std::int64_t offset) {
  std::string bytes;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return bytes;
  std::array<char, 1 << 16> chunk;
  for (;;) {
    const ssize_t got =
        ::pread(descriptor, chunk.data(), chunk.size(), offset + static_cast<std::int64_t>(bytes.size()));
    if (got <= 0) break;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  return bytes;
}

}  // namespace

std::vector<Event> EventReader::read_new(const std::string& writer) {
  std::int64_t& offset = offsets_[writer];
  const std::string bytes = read_from(layout_.events(writer), offset);
  const std::size_t newline = bytes.rfind('\n');
  if (newline == std::string::npos) return {};
  offset += static_cast<std::int64_t>(newline) + 1;
  return read_events(std::string_view(bytes).substr(0, newline + 1));
}

std::vector<std::string> EventReader::writers() const {
  std::vector<std::string> names;
  RealFileSystem disk;
  const auto listed = disk.list(layout_.events_directory());
  if (!listed) return names;
  for (const std::string& name : *listed) {
    if (name.ends_with(kSuffix)) names.push_back(name.substr(0, name.size() - kSuffix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Event> EventReader::read_all() {
  std::vector<Event> events;
  for (const std::string& writer : writers()) {
    std::vector<Event> more = read_new(writer);
    std::move(more.begin(), more.end(), std::back_inserter(events));
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  return events;
}

void EventReader::skip_to_end() {
  for (const std::string& writer : writers()) {
    struct stat status {};
    if (::stat(layout_.events(writer).c_str(), &status) == 0) offsets_[writer] = status.st_size;
  }
}

}  // namespace arena
