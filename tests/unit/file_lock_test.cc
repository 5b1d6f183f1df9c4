#include "os/file_lock.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <thread>
#include <vector>

#include "fakes/await_end.h"
#include "fakes/temp_directory.h"
#include "os/file_system.h"
#include "os/process.h"

namespace arena {

TEST_SUITE_BEGIN("os");

TEST_CASE("a lock is held by one at a time and ends with its holder") {
  TempDirectory directory;
  std::optional<FileLock> first = FileLock::try_acquire(directory / "lock").value();
  CHECK(FileLock::try_acquire(directory / "lock").error().code == ErrorCode::busy);
  CHECK(FileLock::try_acquire_existing(directory / "lock").error().code == ErrorCode::busy);
  FileLock moved = std::move(*first);
  first.reset();
  CHECK_FALSE(FileLock::try_acquire(directory / "lock"));
  moved = FileLock::try_acquire(directory / "other").value();
  CHECK(FileLock::try_acquire(directory / "lock"));
}

TEST_CASE("a lock on an existing file is not found when there is none or it has been removed") {
  TempDirectory directory;
  CHECK(FileLock::try_acquire_existing(directory / "lock").error().code == ErrorCode::not_found);
  CHECK_FALSE(RealFileSystem().exists(directory / "lock").value());
  const FileLock held = FileLock::try_acquire(directory / "lock").value();
  REQUIRE(RealFileSystem().remove(directory / "lock"));
  CHECK(FileLock::try_acquire_existing(directory / "lock").error().code == ErrorCode::not_found);
  CHECK(FileLock::try_acquire(directory / "lock"));  // a new file of the name
}

TEST_CASE("a lock file that its holders remove still never has two of them") {
  TempDirectory directory;
  std::atomic<int> holders{0};
  std::atomic<bool> collided{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        const auto lock = FileLock::try_acquire(directory / "lock");
        if (!lock) continue;
        if (++holders != 1) collided = true;
        --holders;
        static_cast<void>(RealFileSystem().remove(directory / "lock"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(collided);
}

TEST_CASE("a symbolic link is no lock file") {
  TempDirectory directory;
  REQUIRE(::symlink("target", (directory / "lock").c_str()) == 0);
  CHECK_FALSE(FileLock::try_acquire(directory / "lock"));
}

TEST_CASE("no child keeps a lock of ours") {
  TempDirectory directory;
  std::optional<FileLock> held = FileLock::try_acquire(directory / "lock").value();
  LaunchSpec spec;
  spec.argv = {"/bin/sleep", "600"};
  const LaunchedProcess child = launch(spec).value();
  held.reset();
  CHECK(FileLock::try_acquire(directory / "lock"));
  CHECK(child.signal(SIGKILL));
  await_end(child);
}

TEST_SUITE_END();

}  // namespace arena
