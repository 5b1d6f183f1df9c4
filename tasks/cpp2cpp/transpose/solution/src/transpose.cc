// Transposes a matrix in square blocks that fit the first-level cache.
//
// The naive loop writes to another cache line with every element, and comes back to a line only a whole row
// of x later, when it has long been evicted. Within a block, every line that is fetched is used up before it
// leaves. Inside a block, 4 by 4 elements are turned in registers: four loads and four stores instead of
// sixteen of each.
#include <algorithm>
#include <cstring>

namespace {

typedef float Floats __attribute__((vector_size(16)));  // four lanes: one SSE or NEON register
typedef int Ints __attribute__((vector_size(16)));
constexpr int kLanes = 4;
constexpr int kBlock = 32;  // a block of x and one of y: 8 KiB

Floats load(const float* p) {
  Floats v;
  std::memcpy(&v, p, sizeof v);  // an unaligned load
  return v;
}

void transpose_4x4(const float* x, int cols, float* y, int rows) {
  const Floats a = load(x), b = load(x + cols), c = load(x + 2 * cols), d = load(x + 3 * cols);
  const Ints low = {0, 4, 1, 5};   // lanes 0 and 1 of both, alternating
  const Ints high = {2, 6, 3, 7};  // lanes 2 and 3
  const Floats ac_low = __builtin_shuffle(a, c, low), bd_low = __builtin_shuffle(b, d, low);
  const Floats ac_high = __builtin_shuffle(a, c, high), bd_high = __builtin_shuffle(b, d, high);
  const Floats out[kLanes] = {__builtin_shuffle(ac_low, bd_low, low), __builtin_shuffle(ac_low, bd_low, high),
                              __builtin_shuffle(ac_high, bd_high, low),
                              __builtin_shuffle(ac_high, bd_high, high)};
#pragma GCC unroll 4  // or else out[] is a real array in memory
  for (int i = 0; i < kLanes; ++i) std::memcpy(y + i * rows, &out[i], sizeof out[i]);
}

// Elements [r0, r1) x [c0, c1) of x.
void transpose_block(const float* x, float* y, int rows, int cols, int r0, int r1, int c0, int c1) {
  int r = r0;
  for (; r + kLanes <= r1; r += kLanes) {
    int c = c0;
    for (; c + kLanes <= c1; c += kLanes) transpose_4x4(x + r * cols + c, cols, y + c * rows + r, rows);
    for (; c < c1; ++c) {
      for (int i = r; i < r + kLanes; ++i) y[c * rows + i] = x[i * cols + c];
    }
  }
  for (; r < r1; ++r) {
    for (int c = c0; c < c1; ++c) y[c * rows + r] = x[r * cols + c];
  }
}

}  // namespace

extern "C" void transpose(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; r += kBlock) {
    for (int c = 0; c < cols; c += kBlock) {
      transpose_block(x, y, rows, cols, r, std::min(r + kBlock, rows), c, std::min(c + kBlock, cols));
    }
  }
}
