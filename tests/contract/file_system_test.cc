// One suite for the disk and for its fake: what the queue relies on holds on both.
#include "os/file_system.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "fakes/memory_file_system.h"
#include "fakes/temp_directory.h"

namespace arena {

namespace {

struct RealDisk {
  TempDirectory directory;
  RealFileSystem disk;
  fs::path root() const { return directory.path(); }
};

struct MemoryDisk {
  MemoryFileSystem disk;
  MemoryDisk() { REQUIRE(disk.make_directory("/root")); }
  fs::path root() const { return "/root"; }
};

std::vector<std::string> sorted_names(FileSystem& disk, const fs::path& directory) {
  auto names = disk.list(directory).value();
  std::sort(names.begin(), names.end());
  return names;
}

template <class R>
ErrorCode code_of(const R& result) {
  REQUIRE_FALSE(result);
  return result.error().code;
}

}  // namespace

#define ALL_DISKS RealDisk, MemoryDisk

TEST_SUITE_BEGIN("file_system");

TEST_CASE_TEMPLATE("what is created is read back byte for byte", T, ALL_DISKS) {
  T world;
  const std::string content("a\0b\n\xff", 5);
  for (const Sync sync : {Sync::no, Sync::yes}) {
    const fs::path file = world.root() / (sync == Sync::yes ? "synced" : "not");
    REQUIRE(world.disk.create(file, content, sync));
    CHECK(world.disk.read(file).value() == content);
  }
  REQUIRE(world.disk.create(world.root() / "empty", "", Sync::no));
  CHECK(world.disk.read(world.root() / "empty").value().empty());
}

TEST_CASE_TEMPLATE("creating is exclusive and needs its directory", T, ALL_DISKS) {
  T world;
  REQUIRE(world.disk.create(world.root() / "f", "first", Sync::no));
  CHECK(code_of(world.disk.create(world.root() / "f", "second", Sync::no)) == ErrorCode::exists);
  CHECK(world.disk.read(world.root() / "f").value() == "first");
  CHECK(code_of(world.disk.create(world.root() / "no/f", "x", Sync::no)) == ErrorCode::not_found);
  REQUIRE(world.disk.make_directory(world.root() / "d"));
  CHECK(code_of(world.disk.create(world.root() / "d", "x", Sync::no)) == ErrorCode::exists);
}

TEST_CASE_TEMPLATE("reading says what is missing and what is no file", T, ALL_DISKS) {
  T world;
  CHECK(code_of(world.disk.read(world.root() / "f")) == ErrorCode::not_found);
  CHECK(code_of(world.disk.read(world.root() / "no/f")) == ErrorCode::not_found);
  REQUIRE(world.disk.make_directory(world.root() / "d"));
  CHECK(code_of(world.disk.read(world.root() / "d")) == ErrorCode::corrupt);
}

TEST_CASE_TEMPLATE("appending adds at the end and creates what is missing", T, ALL_DISKS) {
  T world;
  REQUIRE(world.disk.append(world.root() / "f", "a\n", Sync::no));
  REQUIRE(world.disk.append(world.root() / "f", "b\n", Sync::yes));
  CHECK(world.disk.read(world.root() / "f").value() == "a\nb\n");
  CHECK(code_of(world.disk.append(world.root() / "no/f", "x", Sync::no)) == ErrorCode::not_found);
  REQUIRE(world.disk.make_directory(world.root() / "d"));
  CHECK(code_of(world.disk.append(world.root() / "d", "x", Sync::no)) == ErrorCode::io);
}

TEST_CASE_TEMPLATE("a rename moves a file, and only the first of two gets it", T, ALL_DISKS) {
  T world;
  REQUIRE(world.disk.make_directory(world.root() / "a"));
  REQUIRE(world.disk.make_directory(world.root() / "b"));
  REQUIRE(world.disk.create(world.root() / "a/f", "x", Sync::no));
  CHECK(world.disk.rename(world.root() / "a/f", world.root() / "b/g", Replace::no));
  CHECK(world.disk.read(world.root() / "b/g").value() == "x");
  CHECK_FALSE(world.disk.exists(world.root() / "a/f").value());
  CHECK(code_of(world.disk.rename(world.root() / "a/f", world.root() / "b/h", Replace::no)) ==
        ErrorCode::not_found);
  CHECK(code_of(world.disk.rename(world.root() / "a/f", world.root() / "b/g", Replace::no)) ==
        ErrorCode::not_found);
}

TEST_CASE_TEMPLATE("a rename replaces only when asked to", T, ALL_DISKS) {
  T world;
  REQUIRE(world.disk.create(world.root() / "new", "new", Sync::no));
  REQUIRE(world.disk.create(world.root() / "old", "old", Sync::no));
  CHECK(code_of(world.disk.rename(world.root() / "new", world.root() / "old", Replace::no)) ==
        ErrorCode::exists);
  CHECK(world.disk.read(world.root() / "old").value() == "old");
  CHECK(world.disk.read(world.root() / "new").value() == "new");
  CHECK(world.disk.rename(world.root() / "new", world.root() / "old", Replace::yes));
  CHECK(world.disk.read(world.root() / "old").value() == "new");
}

TEST_CASE_TEMPLATE("a rename that must replace needs a target, and makes none where it is gone", T,
                   ALL_DISKS) {
  T world;
  REQUIRE(world.disk.create(world.root() / "new", "new", Sync::no));
  CHECK(code_of(world.disk.rename(world.root() / "new", world.root() / "old", Replace::must)) ==
        ErrorCode::not_found);
  CHECK(sorted_names(world.disk, world.root()) == std::vector<std::string>{"new"});
  REQUIRE(world.disk.create(world.root() / "old", "old", Sync::no));
  CHECK(world.disk.rename(world.root() / "new", world.root() / "old", Replace::must));
  CHECK(world.disk.read(world.root() / "old").value() == "new");
  CHECK(sorted_names(world.disk, world.root()) == std::vector<std::string>{"old"});
  CHECK(code_of(world.disk.rename(world.root() / "new", world.root() / "old", Replace::must)) ==
        ErrorCode::not_found);
  CHECK(world.disk.read(world.root() / "old").value() == "new");
}

TEST_CASE_TEMPLATE("a whole file system is synced through any of its directories", T, ALL_DISKS) {
  T world;
  REQUIRE(world.disk.create(world.root() / "f", "x", Sync::no));
  CHECK(world.disk.sync_file_system(world.root()));
  CHECK(code_of(world.disk.sync_file_system(world.root() / "no")) == ErrorCode::not_found);
}

TEST_CASE_TEMPLATE("a rename into a directory that is not there is no lost race", T, ALL_DISKS) {
  T world;
  REQUIRE(world.disk.create(world.root() / "f", "x", Sync::no));
  CHECK(code_of(world.disk.rename(world.root() / "f", world.root() / "no/f", Replace::no)) == ErrorCode::io);
  CHECK(world.disk.read(world.root() / "f").value() == "x");
}

TEST_CASE_TEMPLATE("directories are renamed with their contents, never into themselves or over others", T,
                   ALL_DISKS) {
  T world;
  REQUIRE(world.disk.make_directory(world.root() / "d"));
  REQUIRE(world.disk.create(world.root() / "d/f", "x", Sync::no));
  CHECK(code_of(world.disk.rename(world.root() / "d", world.root() / "d/e", Replace::no)) == ErrorCode::io);
  REQUIRE(world.disk.make_directory(world.root() / "full"));
  REQUIRE(world.disk.create(world.root() / "full/f", "y", Sync::no));
  CHECK(code_of(world.disk.rename(world.root() / "d", world.root() / "full", Replace::no)) ==
        ErrorCode::exists);
  CHECK(code_of(world.disk.rename(world.root() / "d", world.root() / "full", Replace::yes)) ==
        ErrorCode::exists);
  CHECK(world.disk.rename(world.root() / "d", world.root() / "e", Replace::no));
  CHECK(world.disk.read(world.root() / "e/f").value() == "x");
}

TEST_CASE_TEMPLATE("a listing has every name once and nothing else", T, ALL_DISKS) {
  T world;
  CHECK(world.disk.list(world.root()).value().empty());
  REQUIRE(world.disk.create(world.root() / ".hidden", "", Sync::no));
  REQUIRE(world.disk.create(world.root() / "b", "", Sync::no));
  REQUIRE(world.disk.make_directory(world.root() / "a"));
  CHECK(sorted_names(world.disk, world.root()) == std::vector<std::string>{".hidden", "a", "b"});
  CHECK(code_of(world.disk.list(world.root() / "no")) == ErrorCode::not_found);
  CHECK(code_of(world.disk.list(world.root() / "b")) == ErrorCode::io);
}

TEST_CASE_TEMPLATE("removing takes a file or an empty directory", T, ALL_DISKS) {
  T world;
  REQUIRE(world.disk.make_directory(world.root() / "d"));
  REQUIRE(world.disk.create(world.root() / "d/f", "", Sync::no));
  CHECK(code_of(world.disk.remove(world.root() / "d")) == ErrorCode::exists);
  CHECK(world.disk.remove(world.root() / "d/f"));
  CHECK(code_of(world.disk.remove(world.root() / "d/f")) == ErrorCode::not_found);
  CHECK(world.disk.remove(world.root() / "d"));
  CHECK_FALSE(world.disk.exists(world.root() / "d").value());
}

TEST_CASE_TEMPLATE("a directory is made once and below an existing one", T, ALL_DISKS) {
  T world;
  CHECK(world.disk.make_directory(world.root() / "d"));
  CHECK(code_of(world.disk.make_directory(world.root() / "d")) == ErrorCode::exists);
  CHECK(code_of(world.disk.make_directory(world.root() / "no/d")) == ErrorCode::not_found);
  REQUIRE(world.disk.create(world.root() / "f", "", Sync::no));
  CHECK(code_of(world.disk.make_directory(world.root() / "f/d")) == ErrorCode::io);
}

TEST_CASE_TEMPLATE("all missing parents are made, and a file in the way is named", T, ALL_DISKS) {
  T world;
  CHECK(make_directories(world.disk, world.root() / "a/b/c"));
  CHECK(make_directories(world.disk, world.root() / "a/b/c"));
  CHECK(world.disk.create(world.root() / "a/b/c/f", "", Sync::no));
  CHECK(code_of(make_directories(world.disk, world.root() / "a/b/c/f")) == ErrorCode::exists);
  CHECK_FALSE(make_directories(world.disk, world.root() / "a/b/c/f/d"));
}

TEST_CASE_TEMPLATE("a directory is synced, a missing one is not", T, ALL_DISKS) {
  T world;
  CHECK(world.disk.sync_directory(world.root()));
  CHECK(code_of(world.disk.sync_directory(world.root() / "no")) == ErrorCode::not_found);
}

TEST_CASE_TEMPLATE("publishing shows a complete file and leaves no other", T, ALL_DISKS) {
  T world;
  const fs::path file = world.root() / "f";
  CHECK(publish(world.disk, file, "one", Sync::yes, Replace::no));
  CHECK(code_of(publish(world.disk, file, "two", Sync::no, Replace::no)) == ErrorCode::exists);
  CHECK(world.disk.read(file).value() == "one");
  CHECK(publish(world.disk, file, "three", Sync::no, Replace::yes));
  CHECK(world.disk.read(file).value() == "three");
  CHECK(code_of(publish(world.disk, world.root() / "no/f", "x", Sync::no, Replace::no)) ==
        ErrorCode::not_found);
  CHECK(sorted_names(world.disk, world.root()) == std::vector<std::string>{"f"});
}

TEST_CASE_TEMPLATE("publishing passes over temporary files that another process of this pid has left", T,
                   ALL_DISKS) {
  T world;
  const fs::path file = world.root() / "f";
  const std::string next = temporary_name(file).native();
  const std::size_t dot = next.rfind('.');
  const auto number = std::stoull(next.substr(dot + 1));
  for (unsigned long long i = 1; i <= 3; ++i) {
    REQUIRE(world.disk.create(next.substr(0, dot + 1) + std::to_string(number + i), "foreign", Sync::no));
  }
  CHECK(publish(world.disk, file, "ours", Sync::no, Replace::no));
  CHECK(world.disk.read(file).value() == "ours");
  CHECK(sorted_names(world.disk, world.root()).size() == 4);
}

TEST_SUITE_END();

}  // namespace arena
