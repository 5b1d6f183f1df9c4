#include "step_hook.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/step.h"

namespace arena {

namespace {

std::string wanted_step;
int wanted_signal = SIGKILL;
std::atomic<int> passes_left{1};
volatile sig_atomic_t continued = 0;

// The first process of a PID namespace, as a worker is, does not get these two signals when it sends them to
// itself: it ends without any clean-up, or waits for the SIGCONT from outside, by its own means.
void stop_here(std::string_view name) {
  if (name != wanted_step || passes_left.fetch_sub(1) != 1) return;
  if (::getpid() != 1) {
    ::raise(wanted_signal);
    return;
  }
  if (wanted_signal == SIGKILL) ::_exit(128 + SIGKILL);
  ::signal(SIGCONT, [](int) { continued = 1; });
  while (continued == 0) ::usleep(10'000);
}

[[noreturn]] void reject(const char* variable, const char* value) {
  std::fprintf(stderr, "cannot read %s='%s'\n", variable, value);
  std::exit(2);
}

}  // namespace

void install_step_hook() {
  const char* step = std::getenv("ARENA_TEST_STEP");
  if (step == nullptr) return;
  std::string_view name = step;
  if (const auto colon = name.find(':'); colon != std::string_view::npos) {
    const std::string_view count = name.substr(colon + 1);
    int passes = 0;
    const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), passes);
    if (error != std::errc() || end != count.data() + count.size() || passes < 1)
      reject("ARENA_TEST_STEP", step);
    passes_left = passes;
    name = name.substr(0, colon);
  }
  if (name.empty()) reject("ARENA_TEST_STEP", step);
  wanted_step = name;
  if (const char* action = std::getenv("ARENA_TEST_STEP_ACTION")) {
    const std::string_view text = action;
    if (text == "stop")
      wanted_signal = SIGSTOP;
    else if (text != "kill")
      reject("ARENA_TEST_STEP_ACTION", action);
  }
  set_step_hook(stop_here);
}

}  // namespace arena
