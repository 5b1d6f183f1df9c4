#pragma once
// What a child prints, in a file of bounded size: the first half of the limit, then the last half, used as a
// ring while the child runs. For the files of this directory only. Never fails while the child runs: a full
// disk must not block the child, so the first error is kept for finish().
#include <cstdint>
#include <string_view>

#include "os/descriptor.h"

namespace arena {

class OutputFile {
 public:
  // Replaces what is there without following it. An empty path counts only.
  static Result<OutputFile> create(const fs::path& file, std::uint64_t limit);
  void write(std::string_view bytes);
  // Puts the ring in order, behind a line that says how much is missing.
  Status finish();
  std::uint64_t total() const { return total_; }

 private:
  OutputFile(fs::path path, Descriptor file, std::uint64_t limit);
  bool put(std::string_view bytes, std::uint64_t offset);

  fs::path path_;
  Descriptor file_;
  std::uint64_t head_;
  std::uint64_t tail_;
  std::uint64_t total_ = 0;
  int error_ = 0;
};

}  // namespace arena
