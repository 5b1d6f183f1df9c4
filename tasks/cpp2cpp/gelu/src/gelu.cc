// GELU, the activation of most transformers: y[i] = x[i] * Phi(x[i]), with Phi the distribution function of
// the standard normal, Phi(x) = (1 + erf(x / sqrt(2))) / 2. The exact form, not the tanh approximation.
//
//   x  input,  n floats
//   y  output, n floats; does not overlap x
//   n  any number >= 1
#include <cmath>

extern "C" void gelu(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) {
    y[i] = 0.5f * x[i] * (1.0f + std::erf(x[i] * 0.70710678f));
  }
}
