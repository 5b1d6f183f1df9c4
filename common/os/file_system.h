#pragma once
// The disk as the queue sees it: one transition is one call, so that a test can fail the n-th one and
// recover. Paths are used as given; no call follows a rename-target symbolic link. Thread-safe: it holds no
// state that changes.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/path.h"
#include "base/result.h"

namespace arena {

enum class Sync { no, yes };  // yes: the data survives power loss when the call has returned
enum class Replace {
  no,  // an existing target is ErrorCode::exists and stays untouched
  yes,
  must,  // a missing target is not_found and stays missing; on file systems without RENAME_EXCHANGE only
         // looked at before
};

// Whether an error of rename(2) is to be believed.
enum class Renames {
  may_repeat,  // a network file system may have done it all the same: look before and after
  exact,
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::string> read(const fs::path& file) = 0;
  // Creates `file` exclusively with exactly `content`; after a failure no file of that name is left.
  virtual Status create(const fs::path& file, std::string_view content, Sync sync) = 0;
  // Adds `content` at the end with one write; creates the file if needed.
  virtual Status append(const fs::path& file, std::string_view content, Sync sync) = 0;
  // rename(2), never across file systems. A missing source is not_found: a race lost; a missing target
  // directory is io. After an error the implementation looks whether the rename in fact happened (a network
  // file system repeats a request whose reply was lost, and then reports anything, ENOENT too) and answers
  // success if exactly this file is at the target.
  virtual Status rename(const fs::path& from, const fs::path& to, Replace replace) = 0;
  virtual Status sync_directory(const fs::path& directory) = 0;
  // Everything written so far to the file system that holds `directory` (syncfs): for thousands of files at
  // once.
  virtual Status sync_file_system(const fs::path& directory) = 0;
  virtual Result<std::vector<std::string>> list(
      const fs::path& directory) = 0;  // names, unsorted, without . and ..
  virtual Status remove(
      const fs::path& file) = 0;  // a file or an empty directory; not_found if it is not there
  virtual Status make_directory(const fs::path& directory) = 0;  // exists if it is there; parents must exist
  virtual Result<bool> exists(const fs::path& path) = 0;  // of whatever kind; symbolic links are not followed
};

class RealFileSystem final : public FileSystem {
 public:
  explicit RealFileSystem(Renames renames = Renames::may_repeat) : renames_(renames) {}
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
  Renames renames_;
};

// A temporary name beside `file`, unique on this machine: `<name>.tmp.<pid>.<n>`.
fs::path temporary_name(const fs::path& file);
bool is_temporary_name(std::string_view name);

// Publishes: temporary name in the same directory, write, close, rename. The name you see is complete.
// Withstands our crash; with Sync::yes also power loss (file and directory synced). A failure leaves no
// temporary file behind.
Status publish(FileSystem& disk, const fs::path& file, std::string_view content, Sync sync, Replace replace);

// make_directory for every missing parent too; an existing directory is fine.
Status make_directories(FileSystem& disk, const fs::path& directory);

// A network file system (NFS, CIFS, Lustre, FUSE, …) by its magic number; named for the warning, empty if
// local.
std::string network_file_system_name(const fs::path& path);
Renames renames_on(const fs::path& path);

}  // namespace arena
