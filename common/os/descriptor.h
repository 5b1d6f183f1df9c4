#pragma once
// File descriptors for the files of this directory only: an owner, and whole reads and writes. Functions
// answer 0 or an errno, because only the caller knows what was attempted on what.
#include <string>
#include <string_view>

#include "os/file_system.h"

namespace arena {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release();
  void close();

 private:
  int number_ = -1;
};

// Names are relative to `directory`, which may be AT_FDCWD.
Descriptor open_at(int directory, const char* name, int flags,
                   unsigned mode = 0666);  // always close-on-exec; errno if -1
int write_all(int descriptor, std::string_view content);
// The whole of a regular file; anything else is kNotRegular.
inline constexpr int kNotRegular = -1;
int read_regular(int directory, const char* name, int flags, std::string& content);
// Creates exclusively, writes, syncs if asked and checks close; removes what it created when any of it fails.
int create_file(int directory, const char* name, std::string_view content, Sync sync);
int sync_directory_at(int directory, const char* name);

// rename(2) as FileSystem::rename promises it. The system call is a parameter so that a test can play a
// network file system that does the work and reports an error.
using RenameCall = int (*)(int from_directory, const char* from, int to_directory, const char* to,
                           unsigned flags);
int system_rename(int from_directory, const char* from, int to_directory, const char* to, unsigned flags);
int rename_at(int from_directory, const char* from, int to_directory, const char* to, Replace replace,
              Renames renames = Renames::may_repeat, RenameCall call = system_rename);

}  // namespace arena
