#include "fakes/temp_directory.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "os/tree.h"

namespace arena {

namespace {

bool current_test_failed = false;

// doctest tells a running test nothing about its checks; a listener hears of them.
struct FailureListener final : doctest::IReporter {
  explicit FailureListener(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override { current_test_failed = false; }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override { current_test_failed = true; }
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& assertion) override {
    if (assertion.m_failed) current_test_failed = true;
  }
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

DOCTEST_REGISTER_LISTENER("failures", 1, FailureListener);

}  // namespace

TempDirectory::TempDirectory() {
  const char* const base = std::getenv("TMPDIR");
  std::string name = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/arena-test-XXXXXX";
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  path_ = fs::canonical(name);
}

TempDirectory::~TempDirectory() {
  if (current_test_failed) {
    std::fprintf(stderr, "left for inspection: %s\n", path_.c_str());
  } else if (const Status removed = remove_tree(path_); !removed) {
    std::fprintf(stderr, "%s\n", removed.error().message.c_str());
  }
}

}  // namespace arena
