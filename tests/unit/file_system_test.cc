#include "os/file_system.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "fakes/failing_file_system.h"
#include "fakes/memory_file_system.h"
#include "fakes/temp_directory.h"
#include "os/clock.h"
#include "os/descriptor.h"

namespace arena {

TEST_SUITE_BEGIN("os");

TEST_CASE("times are written as records and run names want them") {
  const WallTime time =
      std::chrono::sys_days{std::chrono::year{2026} / 3 / 4} + std::chrono::milliseconds(3'723'045);
  CHECK(format_utc(time) == "2026-03-04T01:02:03.045Z");
  CHECK(format_utc(WallTime{} - std::chrono::milliseconds(1)) == "1969-12-31T23:59:59.999Z");
  CHECK(format_run_timestamp(time).size() == 15);
  CHECK(format_run_timestamp(time).substr(13) == "03");  // in local time, which can move all but the seconds
}

TEST_CASE("temporary names are told from all others") {
  const fs::path name = temporary_name("/d/f.yaml");
  CHECK(name.parent_path() == "/d");
  CHECK(is_temporary_name(name.filename().native()));
  CHECK(name != temporary_name("/d/f.yaml"));
  for (const char* const other :
       {"", "f", "f.yaml", ".tmp.1.2", "f.tmp", "f.tmp.1", "f.tmp.1.", "f.tmp..1", "f.tmp.1.x", "f.tmp.x.1",
        "ftmp.1.2", "f.tmp.1.2.yaml", "1.2", "f.tmp.1.2 "}) {
    CAPTURE(other);
    CHECK_FALSE(is_temporary_name(other));
  }
}

TEST_CASE("every failed step of a publication is reported and leaves either nothing or the whole file") {
  for (const Replace replace : {Replace::no, Replace::yes}) {
    for (std::size_t call = 1;; ++call) {
      CAPTURE(call);
      MemoryFileSystem memory;
      REQUIRE(memory.make_directory("/d"));
      if (replace == Replace::yes) REQUIRE(memory.create("/d/f", "old", Sync::yes));
      FailingFileSystem disk(memory);
      disk.fail_at({.call = call, .code = ErrorCode::no_space});
      const Status published = publish(disk, "/d/f", "new", Sync::yes, replace);
      if (!disk.has_failed()) {
        CHECK(published);
        CHECK(call == 4);  // create, rename, sync were failed before
        break;
      }
      REQUIRE_FALSE(published);
      CHECK(published.error().code == ErrorCode::no_space);
      const auto names = memory.list("/d").value();
      for (const std::string& name : names) CHECK(name == "f");
      if (!names.empty()) CHECK(contains("old new", memory.read("/d/f").value()));
    }
  }
}

TEST_CASE("a publication is synced in the order that survives power loss") {
  MemoryFileSystem memory;
  REQUIRE(memory.make_directory("/d"));
  memory.sync_everything();
  FailingFileSystem disk(memory);
  REQUIRE(publish(disk, "/d/f", "x", Sync::yes, Replace::no));
  REQUIRE(disk.log().size() == 3);
  CHECK(contains(disk.log()[0], "create"));
  CHECK(contains(disk.log()[1], "rename"));
  CHECK(disk.log()[2] == "sync /d");
  memory.lose_power();
  CHECK(memory.read("/d/f").value() == "x");
}

TEST_CASE("power loss takes what was not synced: names and contents, each for itself") {
  MemoryFileSystem disk;
  REQUIRE(disk.make_directory("/d"));
  disk.sync_everything();
  REQUIRE(disk.create("/d/name_only", "content", Sync::no));
  REQUIRE(disk.sync_directory("/d"));
  REQUIRE(disk.create("/d/content_only", "content", Sync::yes));
  REQUIRE(disk.append("/d/name_only", "more", Sync::no));
  disk.lose_power();
  CHECK(disk.read("/d/name_only").value().empty());
  CHECK_FALSE(disk.exists("/d/content_only").value());
}

TEST_CASE("a failing disk counts the chosen kinds, fails after doing it, and stays broken if told so") {
  MemoryFileSystem memory;
  FailingFileSystem disk(memory);
  disk.fail_at(
      {.call = 2, .when = FailingFileSystem::When::after, .all_later_too = true, .kinds = {"mkdir"}});
  CHECK(disk.make_directory("/a"));
  CHECK(disk.exists("/a").value());
  CHECK_FALSE(disk.make_directory("/b"));
  CHECK(memory.exists("/b").value());
  CHECK_FALSE(disk.make_directory("/c"));
  CHECK_FALSE(memory.exists("/c").value());
  CHECK(disk.calls() == 3);
}

namespace {

// Stand-ins for the system call on a network file system.
int rename_then(int error, int from_directory, const char* from, int to_directory, const char* to,
                unsigned flags) {
  const int result = system_rename(from_directory, from, to_directory, to, flags);
  errno = result == 0 ? error : errno;
  return -1;
}
int done_but_io_error(int a, const char* b, int c, const char* d, unsigned e) {
  return rename_then(EIO, a, b, c, d, e);
}
int done_but_not_found(int a, const char* b, int c, const char* d, unsigned e) {
  return rename_then(ENOENT, a, b, c, d, e);
}
int done_but_stale(int a, const char* b, int c, const char* d, unsigned e) {
  return rename_then(ESTALE, a, b, c, d, e);
}
int io_error(int, const char*, int, const char*, unsigned) {
  errno = EIO;
  return -1;
}
int without_flags(int a, const char* b, int c, const char* d, unsigned flags) {
  if (flags == 0) return system_rename(a, b, c, d, 0);
  errno = EINVAL;
  return -1;
}
// Another worker is faster: the source goes elsewhere, and our name at the target is somebody else's old
// file.
int lost_to_another(int, const char* from, int, const char*, unsigned) {
  const std::string elsewhere = std::string(from) + ".taken";
  system_rename(AT_FDCWD, from, AT_FDCWD, elsewhere.c_str(), 0);
  errno = ENOENT;
  return -1;
}

}  // namespace

TEST_CASE("a rename that happened is a success whatever the network file system says") {
  for (const RenameCall call : {done_but_io_error, done_but_not_found, done_but_stale}) {
    for (const Replace replace : {Replace::no, Replace::yes}) {
      TempDirectory directory;
      RealFileSystem disk;
      REQUIRE(disk.create(directory / "f", "x", Sync::no));
      if (replace == Replace::yes) REQUIRE(disk.create(directory / "g", "old", Sync::no));
      CHECK(rename_at(AT_FDCWD, (directory / "f").c_str(), AT_FDCWD, (directory / "g").c_str(), replace,
                      Renames::may_repeat, call) == 0);
      CHECK(disk.read(directory / "g").value() == "x");
    }
  }
}

TEST_CASE("a rename that did not happen is an error, even if the target is there") {
  TempDirectory directory;
  RealFileSystem disk;
  const std::string from = (directory / "f").native();
  const std::string to = (directory / "g").native();
  REQUIRE(disk.create(from, "x", Sync::no));
  CHECK(rename_at(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), Replace::no, Renames::may_repeat, io_error) ==
        EIO);
  REQUIRE(disk.create(to, "old", Sync::no));
  CHECK(rename_at(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), Replace::yes, Renames::may_repeat,
                  io_error) == EIO);
  CHECK(rename_at(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), Replace::yes, Renames::may_repeat,
                  lost_to_another) == ENOENT);
  CHECK(disk.read(to).value() == "old");
}

TEST_CASE("on a local file system an error of rename is believed") {
  TempDirectory directory;
  const std::string from = (directory / "f").native();
  const std::string to = (directory / "g").native();
  RealFileSystem disk(renames_on(directory.path()));
  REQUIRE(disk.create(from, "x", Sync::no));
  REQUIRE(disk.create(to, "old", Sync::no));
  CHECK(disk.rename(from, to, Replace::no).error().code == ErrorCode::exists);
  CHECK(disk.read(to).value() == "old");
  CHECK(disk.rename(from, to, Replace::must));
  CHECK(disk.read(to).value() == "x");
  CHECK(disk.rename(from, to, Replace::no).error().code == ErrorCode::not_found);
  CHECK(disk.rename(from, to, Replace::must).error().code == ErrorCode::not_found);
  REQUIRE(disk.create(from, "y", Sync::no));
  CHECK(rename_at(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), Replace::no, Renames::exact, without_flags) ==
        EEXIST);
  CHECK(disk.read(to).value() == "x");
}

TEST_CASE("where the file system does not know exclusive renames, nothing is replaced either") {
  TempDirectory directory;
  RealFileSystem disk;
  const std::string from = (directory / "f").native();
  const std::string to = (directory / "g").native();
  REQUIRE(disk.create(from, "x", Sync::no));
  REQUIRE(disk.create(to, "old", Sync::no));
  CHECK(rename_at(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), Replace::no, Renames::may_repeat,
                  without_flags) == EEXIST);
  CHECK(disk.read(to).value() == "old");
  REQUIRE(disk.remove(to));
  CHECK(rename_at(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), Replace::no, Renames::may_repeat,
                  without_flags) == 0);
  CHECK(disk.read(to).value() == "x");
}

TEST_CASE("where the file system cannot exchange names, a target that is gone stays gone too") {
  TempDirectory directory;
  RealFileSystem disk;
  const std::string from = (directory / "f").native();
  const std::string to = (directory / "g").native();
  REQUIRE(disk.create(from, "new", Sync::no));
  CHECK(rename_at(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), Replace::must, Renames::may_repeat,
                  without_flags) == ENOENT);
  CHECK_FALSE(disk.exists(to).value());
  REQUIRE(disk.create(to, "old", Sync::no));
  CHECK(rename_at(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), Replace::must, Renames::may_repeat,
                  without_flags) == 0);
  CHECK(disk.read(to).value() == "new");
  CHECK_FALSE(disk.exists(from).value());
}

TEST_CASE("a FIFO in the place of a file neither hangs the reader nor counts as a file") {
  TempDirectory directory;
  REQUIRE(::mkfifo((directory / "f").c_str(), 0600) == 0);
  CHECK(RealFileSystem().read(directory / "f").error().code == ErrorCode::corrupt);
}

TEST_CASE("a full disk is an error before anything is published") {
  RealFileSystem disk;
  const Status appended = disk.append("/dev/full", "x", Sync::no);
  REQUIRE_FALSE(appended);
  CHECK(appended.error().code == ErrorCode::no_space);
  CHECK(contains(appended.error().message, "/dev/full"));
}

TEST_CASE("a dangling symbolic link exists, and is removed as itself") {
  TempDirectory directory;
  RealFileSystem disk;
  REQUIRE(::symlink("nowhere", (directory / "l").c_str()) == 0);
  CHECK(disk.exists(directory / "l").value());
  CHECK(disk.create(directory / "l", "x", Sync::no).error().code == ErrorCode::exists);
  CHECK(disk.remove(directory / "l"));
}

TEST_CASE("local file systems have no network name, missing paths are judged by their parent") {
  CHECK(network_file_system_name("/proc").empty());
  CHECK(network_file_system_name("/proc/no/such/path").empty());
}

TEST_SUITE_END();

}  // namespace arena
