#include "os/tree.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.h"
#include "fakes/temp_directory.h"
#include "os/file_system.h"

namespace arena {

namespace {

// root/task/… to copy, root/kit/… shared with other tasks, root/copy as the target.
struct World {
  TempDirectory root;
  RealFileSystem disk;
  fs::path task = root / "tasks/task";
  fs::path kit = root / "tasks/kit";
  fs::path copy = root / "copy";

  World() {
    REQUIRE(make_directories(disk, task));
    REQUIRE(make_directories(disk, kit));
  }
  void put(const fs::path& file, std::string_view text) {
    REQUIRE(make_directories(disk, file.parent_path()));
    REQUIRE(publish(disk, file, text, Sync::no, Replace::yes));
  }
  void link(const fs::path& from, const std::string& text) {
    REQUIRE(make_directories(disk, from.parent_path()));
    REQUIRE(::symlink(text.c_str(), from.c_str()) == 0);
  }
  std::string text_of(const fs::path& file) { return disk.read(file).value(); }
  std::string digest(const CopyOptions& options = {}) { return digest_tree(task, options).value(); }
};

struct stat info_of(const fs::path& path) {
  struct stat info {};
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  return info;
}

std::string target_of(const fs::path& link) { return fs::read_symlink(link).native(); }

// Runs as an ordinary user where we are root, for whom permissions do not count.
class OrdinaryUser {
 public:
  OrdinaryUser() : was_root_(::geteuid() == 0) {
    if (was_root_) REQUIRE(::seteuid(65534) == 0);
  }
  ~OrdinaryUser() {
    if (was_root_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool was_root_;
};

}  // namespace

TEST_SUITE_BEGIN("os");

TEST_CASE("a copy has the contents, modes and times of the original") {
  World world;
  world.put(world.task / "a.cpp", "int main() {}\n");
  world.put(world.task / "sub/deep/run.sh", "#!/bin/sh\n");
  world.put(world.task / "empty", "");
  REQUIRE(world.disk.make_directory(world.task / "nothing"));
  REQUIRE(::chmod((world.task / "sub/deep/run.sh").c_str(), 04755) == 0);
  REQUIRE(::chmod((world.task / "sub/deep").c_str(), 0500) == 0);
  const timespec times[2] = {{1'000'000'000, 5}, {1'111'111'111, 7}};
  REQUIRE(::utimensat(AT_FDCWD, (world.task / "a.cpp").c_str(), times, 0) == 0);

  const TreeSize size = copy_tree(world.task, world.copy, {}).value();
  CHECK(size.files == 3);
  CHECK(size.bytes == 14 + 10);
  CHECK(world.text_of(world.copy / "a.cpp") == "int main() {}\n");
  CHECK(world.text_of(world.copy / "sub/deep/run.sh") == "#!/bin/sh\n");
  CHECK((info_of(world.copy / "sub/deep/run.sh").st_mode & 07777) == 0755);
  CHECK((info_of(world.copy / "sub/deep").st_mode & 07777) == 0700);
  CHECK(S_ISDIR(info_of(world.copy / "nothing").st_mode));
  CHECK(info_of(world.copy / "a.cpp").st_mtim.tv_sec == 1'111'111'111);
  CHECK(info_of(world.copy / "a.cpp").st_mtim.tv_nsec == 7);
  CHECK(digest_tree(world.copy, {}).value() == world.digest());
}

TEST_CASE("files of every size around the borders of the copy's methods arrive whole") {
  World world;
  for (const std::size_t size : {1UL, 65535UL, 65536UL, 65537UL, 3'000'001UL}) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 2654435761U >> 13);
    world.put(world.task / "f", text);
    REQUIRE(copy_tree(world.task, world.copy, {}));
    CHECK((world.text_of(world.copy / "f") == text));
  }
}

TEST_CASE("what is in the way of a copy is replaced, what is beside it stays") {
  World world;
  world.put(world.task / "f", "new");
  world.put(world.task / "g", "new");
  world.put(world.task / "d/h", "new");
  world.put(world.task / "e/i", "new");
  world.link(world.task / "l", "f");
  world.put(world.copy / "kept", "old");
  world.put(world.copy / "f", "old and longer");
  world.put(world.copy / "g/was/a/directory", "old");
  world.put(world.copy / "d", "was a file");
  world.put(world.copy / "victim/i", "precious");
  world.link(world.copy / "e", "victim");
  world.link(world.copy / "l", "victim/i");
  REQUIRE(copy_tree(world.task, world.copy, {}));
  for (const char* const file : {"f", "g", "d/h", "e/i", "l"})
    CHECK(world.text_of(world.copy / file) == "new");
  CHECK(world.text_of(world.copy / "kept") == "old");
  CHECK(world.text_of(world.copy / "victim/i") == "precious");
}

TEST_CASE("excluded paths are left out of copy and digest, with all below them") {
  World world;
  world.put(world.task / "a", "a");
  const std::string before = world.digest();
  world.put(world.task / "solution/a", "answer");
  world.put(world.task / "sub/.git/config", "x");
  world.put(world.task / "sub/solution", "not at the top");
  CopyOptions options;
  options.excluded = [](const std::string& path) {
    return path == "solution" || path == "sub/.git" || path == "sub/solution";
  };
  REQUIRE(copy_tree(world.task, world.copy, options));
  CHECK_FALSE(world.disk.exists(world.copy / "solution").value());
  CHECK(world.disk.list(world.copy / "sub").value().empty());
  REQUIRE(remove_tree(world.task / "sub"));
  CHECK(world.digest(options) == before);
}

TEST_CASE("links that stay inside the tree are copied as links, dangling ones too") {
  World world;
  world.put(world.task / "a/f", "x");
  world.link(world.task / "a/l", "f");
  world.link(world.task / "b/l", "../a/../a/f");
  world.link(world.task / "dir", "a");
  world.link(world.task / "dangling", "later/made");
  REQUIRE(copy_tree(world.task, world.copy, {}));
  CHECK(target_of(world.copy / "a/l") == "f");
  CHECK(target_of(world.copy / "b/l") == "../a/../a/f");
  CHECK(target_of(world.copy / "dir") == "a");
  CHECK(target_of(world.copy / "dangling") == "later/made");
}

TEST_CASE("links that lead out are refused by name, however they hide it") {
  World world;
  world.put(world.root / "tasks/secret", "x");
  for (const std::string& text :
       {std::string("../secret"), std::string("/etc/passwd"), (world.task / "inside").native(),
        std::string("../task/inside"), std::string("sub/../../secret"), std::string(".."),
        std::string("../dangling"), std::string("me")}) {
    CAPTURE(text);
    REQUIRE(remove_tree(world.task));
    world.put(world.task / "inside", "x");
    world.put(world.task / "sub/x", "x");
    world.link(world.task / "me", text);
    const auto copied = copy_tree(world.task, world.copy, {});
    REQUIRE_FALSE(copied);
    CHECK(copied.error().code == ErrorCode::refused);
    CHECK(contains(copied.error().message, (world.task / "me").native()));
    CHECK(digest_tree(world.task, {}).error().code == ErrorCode::refused);
    REQUIRE(remove_tree(world.copy));
  }
}

TEST_CASE("links into the shared kit are replaced by what they lead to, and count as that") {
  World world;
  world.put(world.kit / "util.h", "shared");
  world.put(world.kit / "lib/a.h", "a");
  world.link(world.kit / "lib/b.h", "a.h");
  world.link(world.kit / "lib/up.h", "../util.h");
  world.put(world.task / "f", "x");
  world.link(world.task / "sub/util.h", "../../kit/util.h");
  world.link(world.task / "lib", world.kit.native() + "/lib");
  CopyOptions options;
  options.dereference_below = world.root / "tasks";
  REQUIRE(copy_tree(world.task, world.copy, options));
  CHECK(S_ISREG(info_of(world.copy / "sub/util.h").st_mode));
  CHECK(world.text_of(world.copy / "sub/util.h") == "shared");
  CHECK(S_ISDIR(info_of(world.copy / "lib").st_mode));
  CHECK(target_of(world.copy / "lib/b.h") == "a.h");
  CHECK(world.text_of(world.copy / "lib/up.h") == "shared");
  CHECK(digest_tree(world.copy, {}).value() == world.digest(options));
  const std::string before = world.digest(options);
  world.put(world.kit / "util.h", "changed");
  CHECK(world.digest(options) != before);
  world.link(world.task / "secret", "/etc/passwd");
  CHECK(copy_tree(world.task, world.copy, options).error().code == ErrorCode::refused);
}

TEST_CASE("a kit whose links lead in a circle is refused") {
  World world;
  world.link(world.kit / "a/to_b", "../b");
  world.link(world.kit / "b/to_a", "../a");
  world.link(world.task / "kit", "../kit/a");
  CopyOptions options;
  options.dereference_below = world.root / "tasks";
  const auto copied = copy_tree(world.task, world.copy, options);
  REQUIRE_FALSE(copied);
  CHECK(contains(copied.error().message, "circle"));
}

TEST_CASE("links are kept as they are where the caller wants v0.2's way") {
  World world;
  world.link(world.task / "l", "/etc/passwd");
  CopyOptions options;
  options.keep_outside_links = true;
  REQUIRE(copy_tree(world.task, world.copy, options));
  CHECK(target_of(world.copy / "l") == "/etc/passwd");
}

TEST_CASE("what is neither file, directory nor link is refused by name") {
  World world;
  REQUIRE(::mkfifo((world.task / "fifo").c_str(), 0600) == 0);
  const auto copied = copy_tree(world.task, world.copy, {});
  REQUIRE_FALSE(copied);
  CHECK(copied.error().code == ErrorCode::refused);
  CHECK(contains(copied.error().message, "fifo"));
}

TEST_CASE("a directory is not copied into itself, nor from nowhere") {
  World world;
  world.put(world.task / "a/f", "x");
  CHECK(copy_tree(world.task, world.task / "a/copy", {}).error().code == ErrorCode::refused);
  CHECK(copy_tree(world.root / "no", world.copy, {}).error().code == ErrorCode::not_found);
  CHECK_FALSE(copy_tree(world.task / "a/f", world.copy, {}));
}

TEST_CASE("the digest sees every change that a workspace would") {
  World world;
  world.put(world.task / "f", "one");
  world.put(world.task / "sub/g", "two");
  world.link(world.task / "l", "f");
  std::vector<std::string> digests{world.digest()};
  const auto changed = [&](const char* what) {
    CAPTURE(what);
    const std::string now = world.digest();
    CHECK(std::find(digests.begin(), digests.end(), now) == digests.end());
    digests.push_back(now);
  };
  world.put(world.task / "f", "onE");
  changed("contents");
  REQUIRE(::chmod((world.task / "f").c_str(), 0755) == 0);
  changed("executable");
  REQUIRE(::rename((world.task / "f").c_str(), (world.task / "f2").c_str()) == 0);
  changed("name");
  REQUIRE(world.disk.make_directory(world.task / "empty"));
  changed("an empty directory");
  REQUIRE(world.disk.remove(world.task / "l"));
  world.link(world.task / "l", "f2");
  changed("a link");
  REQUIRE(world.disk.remove(world.task / "l"));
  world.put(world.task / "l", "f2");
  changed("a file instead of a link");
}

TEST_CASE("times and other permissions are no change, but the cheap digest looks at them") {
  World world;
  world.put(world.task / "f", "one");
  const std::string whole = world.digest();
  const std::string cheap = stat_digest_tree(world.task, {}).value();
  CHECK(cheap == stat_digest_tree(world.task, {}).value());
  CHECK(cheap != whole);
  CHECK(digests_of_tree(world.task, {}).value().contents == whole);
  CHECK(digests_of_tree(world.task, {}).value().stat == cheap);
  const timespec times[2] = {
      {1, 0}, {info_of(world.task / "f").st_mtim.tv_sec, info_of(world.task / "f").st_mtim.tv_nsec + 1}};
  REQUIRE(::utimensat(AT_FDCWD, (world.task / "f").c_str(), times, 0) == 0);
  const std::string touched = stat_digest_tree(world.task, {}).value();
  CHECK(touched != cheap);
  REQUIRE(::chmod((world.task / "f").c_str(), 0640) == 0);
  CHECK(stat_digest_tree(world.task, {}).value() != touched);
  CHECK(world.digest() == whole);
}

TEST_CASE("removal takes everything, follows no link, and is content when nothing is there") {
  World world;
  world.put(world.root / "victim/f", "precious");
  world.put(world.task / "a/b/c", "x");
  world.link(world.task / "a/out", "../../../victim");
  world.link(world.root / "link", "victim");
  REQUIRE(::mkfifo((world.task / "fifo").c_str(), 0600) == 0);
  CHECK(remove_tree(world.task));
  CHECK_FALSE(world.disk.exists(world.task).value());
  CHECK(remove_tree(world.task));
  CHECK(remove_tree(world.root / "link"));
  CHECK_FALSE(world.disk.exists(world.root / "link").value());
  CHECK(world.text_of(world.root / "victim/f") == "precious");
  CHECK(remove_tree(world.root / "victim/f"));
}

TEST_CASE("an ordinary user's tree is removed though its directories refuse everything") {
  World world;
  REQUIRE(::chmod(world.root.path().c_str(), 0777) == 0);
  const OrdinaryUser user;
  const fs::path tree = world.root / "theirs";
  world.put(tree / "closed/sub/f", "x");
  world.put(tree / "read_only/f", "x");
  world.put(tree / "no_search/f", "x");
  REQUIRE(::chmod((tree / "closed/sub").c_str(), 0) == 0);
  REQUIRE(::chmod((tree / "closed").c_str(), 0) == 0);
  REQUIRE(::chmod((tree / "read_only").c_str(), 0500) == 0);
  REQUIRE(::chmod((tree / "no_search").c_str(), 0600) == 0);
  REQUIRE(::chmod(tree.c_str(), 0) == 0);
  CHECK(remove_tree(tree));
  CHECK_FALSE(world.disk.exists(tree).value());
}

TEST_CASE("what a user may not remove is named") {
  World world;
  world.put(world.task / "f", "x");
  REQUIRE(::chmod(world.root.path().c_str(), 0755) == 0);
  const fs::path home = world.task.parent_path();
  REQUIRE(::chmod(home.c_str(), 0755) == 0);
  REQUIRE(::chmod(world.task.c_str(), 0755) == 0);
  Status removed;
  if (::geteuid() == 0) {
    const OrdinaryUser user;
    removed = remove_tree(world.task);
  } else {
    REQUIRE(::chmod(home.c_str(), 0555) == 0);
    removed = remove_tree(world.task);
    REQUIRE(::chmod(home.c_str(), 0755) == 0);
  }
  REQUIRE_FALSE(removed);
  CHECK(removed.error().code == ErrorCode::denied);
  CHECK(contains(removed.error().message, world.task.native()));
}

TEST_CASE("a tree deeper than the number of descriptors is removed") {
  World world;
  int directory = ::open(world.task.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int depth = 0; depth < 1500; ++depth) {
    REQUIRE(::mkdirat(directory, "a_rather_long_name", 0777) == 0);
    const int next = ::openat(directory, "a_rather_long_name", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::close(directory);
    directory = next;
  }
  ::close(directory);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{300, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  const Status removed = remove_tree(world.task);
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(removed);
  CHECK_FALSE(world.disk.exists(world.task).value());
}

TEST_SUITE_END();

}  // namespace arena
