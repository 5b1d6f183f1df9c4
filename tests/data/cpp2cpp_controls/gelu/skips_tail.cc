// must fail correctness: output[
// The last elements are forgotten when n is no multiple of four.
#include <cmath>

extern "C" void gelu(const float* x, float* y, int n) {
  for (int i = 0; i < n / 4 * 4; ++i) y[i] = 0.5f * x[i] * (1.0f + std::erf(x[i] * 0.70710678f));
}
