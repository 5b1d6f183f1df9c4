// must fail correctness: was written, but the output has
// Rounds n up to a whole vector, and stores what nobody asked for behind the output.
#include <cmath>

extern "C" void gelu(const float* x, float* y, int n) {
  for (int i = 0; i < (n + 3) / 4 * 4; ++i) y[i] = 0.5f * x[i] * (1.0f + std::erf(x[i] * 0.70710678f));
}
