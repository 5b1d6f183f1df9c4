// Prefix sum of four elements at once, so that only one addition in sixteen has to wait for the one before
// it.
//
// In the naive loop each addition needs the previous one's result, and the processor idles for its latency.
// Here the prefix sums inside each group of four are built by shifting and adding (Hillis and Steele), which
// waits for nobody; what remains in sequence is the total carried from one block of sixteen to the next.
#include <cstring>

namespace {

typedef float Floats __attribute__((vector_size(16)));  // four lanes: one SSE or NEON register
typedef int Ints __attribute__((vector_size(16)));
constexpr int kLanes = 4;
constexpr int kGroups = 4;
constexpr int kBlock = kGroups * kLanes;

// Prefix sums of the four lanes.
Floats scan(Floats v) {
  const Floats zero{};
  v += __builtin_shuffle(zero, v, Ints{0, 4, 5, 6});  // each lane plus its left neighbour
  v += __builtin_shuffle(zero, v, Ints{0, 1, 4, 5});  // each lane plus the one two to the left
  return v;
}

Floats last_lane(Floats v) { return __builtin_shuffle(v, Ints{3, 3, 3, 3}); }

}  // namespace

extern "C" void prefix_sum(const float* x, float* y, int n) {
  Floats carry{};  // in every lane, the sum of all before this block
  int i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    Floats group[kGroups];
    std::memcpy(group, x + i, sizeof group);
#pragma GCC unroll 4  // or else group[] is a real array in memory
    for (Floats& v : group) v = scan(v);
    const Floats first_half = last_lane(group[0]) + last_lane(group[1]);
    const Floats total = first_half + last_lane(group[2]) + last_lane(group[3]);
    const Floats before[kGroups] = {carry, carry + last_lane(group[0]), carry + first_half,
                                    carry + (first_half + last_lane(group[2]))};
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; ++g) group[g] += before[g];
    std::memcpy(y + i, group, sizeof group);
    carry += total;
  }
  float sum = carry[0];
  for (; i < n; ++i) {
    sum += x[i];
    y[i] = sum;
  }
}
