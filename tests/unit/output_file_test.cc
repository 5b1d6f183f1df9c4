#include "os/output_file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "base/text.h"
#include "fakes/temp_directory.h"

namespace arena {

TEST_SUITE_BEGIN("os");

TEST_CASE("output of any length, written in pieces of any size, keeps its first and its last half") {
  const TempDirectory directory;
  const fs::path file = directory / "out";
  for (const std::size_t limit : {2U, 4U, 10U}) {
    for (std::size_t size = 0; size <= 4 * limit; ++size) {
      for (const std::size_t piece : {1U, 3U, 7U, 100U}) {
        CAPTURE(limit);
        CAPTURE(size);
        CAPTURE(piece);
        std::string text;
        for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('a' + i % 26);
        OutputFile output = OutputFile::create(file, limit).value();
        for (std::size_t at = 0; at < size; at += piece)
          output.write(std::string_view(text).substr(at, piece));
        REQUIRE(output.finish());
        CHECK(output.total() == size);
        const std::string expected =
            size <= limit ? text
                          : fmt::format("{}\n... {} bytes left out ...\n{}", text.substr(0, limit / 2),
                                        size - limit, text.substr(size - limit / 2));
        CHECK(RealFileSystem().read(file).value() == expected);
      }
    }
  }
}

TEST_CASE("an old output file or link is replaced, anything else is left alone") {
  TempDirectory directory;
  RealFileSystem disk;
  REQUIRE(disk.create(directory / "victim", "precious", Sync::no));
  REQUIRE(::symlink("victim", (directory / "out").c_str()) == 0);
  OutputFile::create(directory / "out", 100).value().write("new");
  CHECK(disk.read(directory / "victim").value() == "precious");
  CHECK(disk.read(directory / "out").value() == "new");
  CHECK(OutputFile::create("/dev/null", 100).error().code == ErrorCode::refused);
  CHECK(OutputFile::create(directory.path(), 100).error().code == ErrorCode::refused);
  CHECK(OutputFile::create(directory / "no/out", 100).error().code == ErrorCode::not_found);
}

TEST_CASE("output that cannot be kept is counted on, and the first error is told at the end") {
  const TempDirectory directory;
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{10, before.rlim_max};
  OutputFile output = OutputFile::create(directory / "out", 1000).value();
  ::setrlimit(RLIMIT_FSIZE, &small);
  output.write("0123456789");
  output.write("too much");
  output.write("more");
  const Status finished = output.finish();
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, previous);
  REQUIRE_FALSE(finished);
  CHECK(contains(finished.error().message, (directory / "out").native()));
  CHECK(output.total() == 22);
}

TEST_SUITE_END();

}  // namespace arena
