#include <doctest/doctest.h>
#include <sys/stat.h>

#include "worker/untrusted_tree.h"
#include "worker_fixture.h"

namespace arena {

TEST_SUITE_BEGIN("worker");

TEST_CASE_FIXTURE(TemporaryWorld, "nothing but regular files in real directories is read or copied") {
  write("outside/secret", "s");
  write("tree/file", "text");
  write("tree/sub/file", "deep");
  fs::create_symlink(root / "outside/secret", root / "tree/link");
  fs::create_symlink(root / "outside", root / "tree/linked");
  REQUIRE(::mkfifo((root / "tree/fifo").c_str(), 0600) == 0);
  const fs::path tree = root / "tree";

  CHECK(read_beneath(tree, "file", 100) == "text");
  CHECK(read_beneath(tree, "sub/file", 100) == "deep");
  CHECK(read_beneath(tree, "absent", 100).error().code == ErrorCode::not_found);
  for (const char* path : {"link", "linked/secret", "fifo", "sub", "file/below", "../outside/secret",
                           "sub/../../outside/secret"}) {
    CHECK_MESSAGE(read_beneath(tree, path, 100).error().code == ErrorCode::corrupt, path);
    CHECK_MESSAGE(!copy_beneath(tree, root / "copy", path), path);
  }
  CHECK(read_beneath(tree, "file", 3).error().code == ErrorCode::corrupt);
}

TEST_CASE_FIXTURE(TemporaryWorld, "a listing names what is there and enters no link") {
  write("tree/a", "1");
  write("tree/sub/b", "22");
  write("tree/.git/config", "x");
  fs::create_symlink(root, root / "tree/up");
  const TreeListing listing = list_tree(root / "tree").value();
  REQUIRE(listing.size() == 3);
  CHECK(listing.at("a").size == 1);
  CHECK(listing.at("sub/b").size == 2);
  CHECK(listing.at("up").kind == TreeEntry::Kind::link);
  CHECK(listing.at("up").link_target == root.string());
  CHECK_FALSE(list_tree(root / "absent"));
}

TEST_CASE_FIXTURE(TemporaryWorld,
                  "a copy replaces links and files in its way and never writes through them") {
  write("from/sub/file", "new");
  fs::permissions(root / "from/sub/file", fs::perms(0755));
  write("outside/file", "old");
  fs::create_directories(root / "to");
  fs::create_symlink(root / "outside", root / "to/sub");
  REQUIRE(copy_beneath(root / "from", root / "to", "sub/file"));
  CHECK(read("outside/file") == "old");
  CHECK(read("to/sub/file") == "new");
  CHECK((fs::status(root / "to/sub/file").permissions() & 0111) != 0);

  fs::remove(root / "to/sub/file");
  fs::create_symlink(root / "outside/file", root / "to/sub/file");
  REQUIRE(copy_beneath(root / "from", root / "to", "sub/file"));
  CHECK(read("outside/file") == "old");
  CHECK(read("to/sub/file") == "new");
}

TEST_CASE_FIXTURE(TemporaryWorld, "removal stays beneath the root") {
  write("outside/file", "old");
  write("to/sub/file", "x");
  fs::create_symlink(root / "outside", root / "to/linked");
  REQUIRE(remove_beneath(root / "to", "linked/file"));
  CHECK(exists("outside/file"));
  REQUIRE(remove_beneath(root / "to", "sub/file"));
  CHECK_FALSE(exists("to/sub/file"));
  CHECK(remove_beneath(root / "to", "absent/file"));
}

TEST_CASE_FIXTURE(TemporaryWorld, "contents are compared byte by byte, with the executable bit") {
  const std::string big(200'000, 'x');
  write("a/f", big);
  write("b/f", big);
  CHECK(same_contents(root / "a", root / "b", "f"));
  std::string changed = big;
  changed.back() = 'y';
  write("b/f", changed);
  CHECK_FALSE(same_contents(root / "a", root / "b", "f"));
  write("b/f", big);
  fs::permissions(root / "b/f", fs::perms(0755));
  CHECK_FALSE(same_contents(root / "a", root / "b", "f"));
  CHECK_FALSE(same_contents(root / "a", root / "b", "absent"));
}

TEST_SUITE_END();

}  // namespace arena
