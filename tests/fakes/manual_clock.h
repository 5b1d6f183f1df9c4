#pragma once
// A clock that stands still until the test moves it. Wall and steady time move together; the wall can also
// jump.
#include "os/clock.h"

namespace arena {

class ManualClock final : public Clock {
 public:
  WallTime now() override { return wall_; }
  SteadyTime steady_now() override { return steady_; }
  void advance(std::chrono::nanoseconds by) {
    wall_ += std::chrono::duration_cast<WallTime::duration>(by);
    steady_ += std::chrono::duration_cast<SteadyTime::duration>(by);
  }
  void set_wall(WallTime to) { wall_ = to; }

 private:
  WallTime wall_{std::chrono::sys_days{std::chrono::year{2026} / 12 / 1} + std::chrono::hours{10} +
                 std::chrono::minutes{15}};
  SteadyTime steady_{std::chrono::hours{1}};
};

}  // namespace arena
