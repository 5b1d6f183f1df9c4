#include "os/environment.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "fakes/temp_directory.h"
#include "os/file_system.h"

namespace arena {

TEST_SUITE_BEGIN("os");

TEST_CASE("the environment is read with empty values and values that hold '='") {
  ::setenv("ARENA_TEST_A", "x=y", 1);
  ::setenv("ARENA_TEST_B", "", 1);
  const EnvironmentMap variables = current_environment();
  ::unsetenv("ARENA_TEST_A");
  ::unsetenv("ARENA_TEST_B");
  CHECK(variables.at("ARENA_TEST_A") == "x=y");
  CHECK(variables.at("ARENA_TEST_B").empty());
}

TEST_CASE("only allowed variables are selected") {
  const EnvironmentMap all{{"PATH", "/bin"}, {"PATHS", "x"}, {"LC_ALL", "C"},
                           {"LC_", ""},      {"LCD", "x"},   {"path", "x"}};
  CHECK(select_environment(all, {"PATH", "LC_*"}) ==
        EnvironmentMap{{"PATH", "/bin"}, {"LC_ALL", "C"}, {"LC_", ""}});
  CHECK(select_environment(all, {}).empty());
  CHECK(select_environment(all, {"*"}) == all);
}

TEST_CASE("the basics hold no credentials, agent sockets or variables of ours") {
  const EnvironmentMap risky{{"PATH", ""},
                             {"ANTHROPIC_API_KEY", ""},
                             {"OPENAI_API_KEY", ""},
                             {"SSH_AUTH_SOCK", ""},
                             {"AWS_SECRET_ACCESS_KEY", ""},
                             {"GITHUB_TOKEN", ""},
                             {"ARENA_RUN_ID", ""},
                             {"HOME", ""},
                             {"DBUS_SESSION_BUS_ADDRESS", ""},
                             {"LD_PRELOAD", ""},
                             {"http_proxy", ""},
                             {"CUDA_VISIBLE_DEVICES", ""},
                             {"TRITON_CACHE_DIR", ""}};
  CHECK(select_environment(risky, basic_environment_names()) == EnvironmentMap{{"PATH", ""}});
}

TEST_CASE("everything that tools write to is private, exists at its top and cannot collide with another's") {
  TempDirectory directory;
  const EnvironmentMap one = private_environment(directory / "a/one").value();
  const EnvironmentMap two = private_environment(directory / "a/two").value();
  CHECK(private_environment(directory / "a/one").value() == one);  // again is fine
  for (const char* const name :
       {"HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "TRITON_CACHE_DIR",
        "TORCH_EXTENSIONS_DIR", "TORCHINDUCTOR_CACHE_DIR", "MIOPEN_USER_DB_PATH", "MIOPEN_CUSTOM_CACHE_DIR",
        "MPLCONFIGDIR", "PYTHONUSERBASE"}) {
    CAPTURE(name);
    CHECK(one.at(name) != two.at(name));
    CHECK(contains(one.at(name), (directory / "a/one/").native()));
  }
  for (const char* const name : {"HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}) {
    struct stat info {};
    REQUIRE(::stat(one.at(name).c_str(), &info) == 0);
    CHECK(S_ISDIR(info.st_mode));
    CHECK((info.st_mode & 0700) == 0700);
  }
  CHECK_FALSE(one.at("USER").empty());
  CHECK(one.at("USER") == one.at("LOGNAME"));
}

TEST_CASE("a private environment whose directory cannot be made is an error") {
  TempDirectory directory;
  REQUIRE(RealFileSystem().create(directory / "file", "", Sync::no));
  CHECK_FALSE(private_environment(directory / "file/below"));
}

TEST_SUITE_END();

}  // namespace arena
