#include "os/directory_handle.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "fakes/temp_directory.h"

namespace arena {

TEST_SUITE_BEGIN("os");

TEST_CASE("a directory that was renamed after opening still receives the file, and its successor does not") {
  TempDirectory directory;
  RealFileSystem disk;
  REQUIRE(disk.make_directory(directory / "workspace"));
  const DirectoryHandle handle = DirectoryHandle::open(directory / "workspace").value();
  CHECK(handle.is_same_as(directory / "workspace"));
  REQUIRE(disk.rename(directory / "workspace", directory / "archived", Replace::no));
  REQUIRE(disk.make_directory(directory / "workspace"));

  CHECK(handle.publish("result.yaml", "late", Sync::yes, Replace::no));
  CHECK(disk.read(directory / "archived/result.yaml").value() == "late");
  CHECK(disk.list(directory / "workspace").value().empty());
  CHECK_FALSE(handle.is_same_as(directory / "workspace"));
  CHECK(handle.is_same_as(directory / "archived"));
  CHECK_FALSE(handle.is_same_as(directory / "nowhere"));
  CHECK(handle.read("result.yaml").value() == "late");
}

TEST_CASE("a handle publishes whole files, replaces only when asked to, and leaves no other file") {
  TempDirectory directory;
  const DirectoryHandle handle = DirectoryHandle::open(directory.path()).value();
  CHECK(handle.publish("f", "one", Sync::no, Replace::no));
  const Status again = handle.publish("f", "two", Sync::no, Replace::no);
  REQUIRE_FALSE(again);
  CHECK(again.error().code == ErrorCode::exists);
  CHECK(contains(again.error().message, (directory / "f").native()));
  CHECK(handle.publish("f", "three", Sync::no, Replace::yes));
  CHECK(handle.read("f").value() == "three");
  CHECK(RealFileSystem().list(directory.path()).value().size() == 1);
}

TEST_CASE("a handle replaces a link instead of writing where it leads") {
  TempDirectory directory;
  RealFileSystem disk;
  REQUIRE(disk.make_directory(directory / "d"));
  REQUIRE(disk.create(directory / "victim", "precious", Sync::no));
  REQUIRE(::symlink("../victim", (directory / "d/f").c_str()) == 0);
  const DirectoryHandle handle = DirectoryHandle::open(directory / "d").value();
  CHECK(handle.read("f").error().code == ErrorCode::corrupt);
  CHECK(handle.publish("f", "ours", Sync::no, Replace::yes));
  CHECK(handle.read("f").value() == "ours");
  CHECK(disk.read(directory / "victim").value() == "precious");
}

TEST_CASE("links, files and names with a slash are refused") {
  TempDirectory directory;
  RealFileSystem disk;
  REQUIRE(disk.make_directory(directory / "d"));
  REQUIRE(disk.create(directory / "f", "", Sync::no));
  REQUIRE(::symlink("d", (directory / "l").c_str()) == 0);
  CHECK_FALSE(DirectoryHandle::open(directory / "l"));
  CHECK_FALSE(DirectoryHandle::open(directory / "f"));
  CHECK(DirectoryHandle::open(directory / "no").error().code == ErrorCode::not_found);
  const DirectoryHandle handle = DirectoryHandle::open(directory / "d").value();
  for (const char* const name : {"", ".", "..", "../f", "a/b", "/f"}) {
    CHECK(handle.publish(name, "x", Sync::no, Replace::yes).error().code == ErrorCode::invalid_input);
    CHECK(handle.read(name).error().code == ErrorCode::invalid_input);
  }
  CHECK(handle.read("no").error().code == ErrorCode::not_found);
  REQUIRE(::mkfifo((directory / "d/fifo").c_str(), 0600) == 0);
  CHECK(handle.read("fifo").error().code == ErrorCode::corrupt);
}

TEST_SUITE_END();

}  // namespace arena
