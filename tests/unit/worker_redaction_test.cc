#include "worker/redaction.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "fakes/temp_directory.h"
#include "os/file_system.h"
#include "worker/agent_home.h"

namespace arena {

TEST_SUITE_BEGIN("redaction");

TEST_CASE("a secret is unreadable wherever the stream is cut, and nothing else is lost") {
  const std::string secret = "sk-abc-abc-abd";
  const std::string text = "x sk-abc-ab sk-abc-abc-abd y sk-abc-abc-abdsk-abc-abc-abd z sk-ab";
  const std::string expected = "x sk-abc-ab [secret] y [secret][secret] z sk-ab";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    CAPTURE(piece);
    Redactor redactor({secret});
    std::string got;
    for (std::size_t at = 0; at < text.size(); at += piece) got += redactor.take(text.substr(at, piece));
    CHECK(got + redactor.finish() == expected);
  }
  Redactor quoted({"pass\"word\\1"});
  CHECK(quoted.redact(R"({"a":"pass\"word\\1"} pass"word\1)") == R"({"a":"[secret]"} [secret])");
  Redactor ready({secret});
  CHECK(ready.take("a line\n") == "a line\n");  // nothing is held back without need
}

TEST_CASE("keys, tokens and addresses with a password are secrets; paths and short values are not") {
  const auto secrets = secrets_of({{"ANTHROPIC_API_KEY", "sk-1234567890"},
                                   {"HTTPS_PROXY", "http://user:pw123456@proxy"},
                                   {"SSL_KEY_FILE", "/etc/ssl/key"},
                                   {"MODEL", "opus-is-no-secret"}});
  CHECK(secrets.size() == 2);
  CHECK(Redactor({"1"}).redact("1 + 1") == "1 + 1");
}

TEST_CASE("login files are copied without the token that works once, and the originals stay as they are") {
  TempDirectory world;
  RealFileSystem disk;
  REQUIRE(make_directories(disk, world / "user/.claude"));
  const std::string login =
      R"({"claudeAiOauth":{"accessToken":"at-123456789","refreshToken":"rt-123456789"}})";
  REQUIRE(disk.create(world / "user/.claude/.credentials.json", login, Sync::no));
  AgentSpec spec;
  spec.files.push_back({".claude/.credentials.json", true, {"refreshToken"}});
  spec.files.push_back({".claude/settings.json", false, {}});
  spec.api_keys = {"KEY"};
  const auto home = furnish_agent_home(spec, world / "user", world / "home", {});
  REQUIRE(home);
  const std::string copy = disk.read(world / "home/.claude/.credentials.json").value();
  CHECK(contains(copy, "at-123456789"));
  CHECK_FALSE(contains(copy, "rt-123456789"));
  CHECK(disk.read(world / "user/.claude/.credentials.json") == login);
  CHECK(home->has_login);
  REQUIRE(home->notes.size() == 1);
  CHECK(contains(home->notes[0], "shared by all workers"));
  CHECK(Redactor(home->secrets).redact("at-123456789 rt-123456789") == "[secret] [secret]");

  const auto with_key = furnish_agent_home(spec, world / "user", world / "other", {{"KEY", "k"}});
  REQUIRE(with_key);
  CHECK_FALSE(disk.exists(world / "other/.claude/.credentials.json").value());

  REQUIRE(publish(disk, world / "user/.claude/.credentials.json", "no json", Sync::no, Replace::yes));
  const auto strange = furnish_agent_home(spec, world / "user", world / "third", {});
  REQUIRE(strange);
  CHECK_FALSE(strange->has_login);
  CHECK(contains(strange->notes.at(0), "was not copied"));
}

TEST_SUITE_END();

}  // namespace arena
