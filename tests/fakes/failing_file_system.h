#pragma once
// Wraps a disk, counts and notes every call, and fails the chosen one: before doing it, or after (a reply
// that was lost).
#include <cstddef>
#include <optional>

#include "os/file_system.h"

namespace arena {

class FailingFileSystem final : public FileSystem {
 public:
  explicit FailingFileSystem(FileSystem& disk) : disk_(disk) {}

  enum class When { before, after };  // doing it
  // `call` counts from 1, over every call since construction or reset(); only `kinds` of calls count (all if
  // empty), by the names used in log(): read create append rename sync list remove mkdir exists.
  struct Fault {
    std::size_t call = 1;
    ErrorCode code = ErrorCode::io;
    When when = When::before;
    bool all_later_too = false;  // the disk stays broken: what follows fails before doing anything
    std::vector<std::string> kinds = {};
  };
  void fail_at(Fault fault);
  void reset();  // no fault, counter at 0, empty log

  std::size_t calls() const { return calls_; }  // those that count
  bool has_failed() const { return has_failed_; }
  const std::vector<std::string>& log() const { return log_; }  // "rename /a /b"

  Result<std::string> read(const fs::path& file) override;
  Status create(const fs::path& file, std::string_view content, Sync sync) override;
  Status append(const fs::path& file, std::string_view content, Sync sync) override;
  Status rename(const fs::path& from, const fs::path& to, Replace replace) override;
  Status sync_directory(const fs::path& directory) override;
  Status sync_file_system(const fs::path& directory) override;
  Result<std::vector<std::string>> list(const fs::path& directory) override;
  Status remove(const fs::path& file) override;
  Status make_directory(const fs::path& directory) override;
  Result<bool> exists(const fs::path& path) override;

 private:
  template <class Call>
  auto pass(const std::string& kind, const std::string& arguments, const Call& call) -> decltype(call());

  FileSystem& disk_;
  std::optional<Fault> fault_;
  std::size_t calls_ = 0;
  bool has_failed_ = false;
  std::vector<std::string> log_;
};

}  // namespace arena
