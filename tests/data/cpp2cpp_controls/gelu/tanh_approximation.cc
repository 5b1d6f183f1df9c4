// must fail correctness: output[
// Faster, and what some networks use, but not the function that was asked for: it is off by up to 5e-4.
#include <cmath>

extern "C" void gelu(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) {
    const float inner = 0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i]);
    y[i] = 0.5f * x[i] * (1.0f + std::tanh(inner));
  }
}
