#pragma once
// The one place of the coordinator with more than one thread: independent pieces of work on plain values.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace arena {

// Calls `work(i)` for i from 0 to count - 1, each once and in no order, on as many threads as there are cores
// and is worth it. `work` must not throw. Returns when all are done.
template <class Work>
void for_each_in_parallel(std::size_t count, Work work) {
  std::atomic<std::size_t> next{0};
  const auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  const std::size_t threads =
      std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), count / 64 + 1);
  std::vector<std::jthread> helpers;
  for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(loop);
  loop();
}

}  // namespace arena
