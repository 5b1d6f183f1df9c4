// must fail correctness: output[
// Saves a pass over the row, and overflows for large inputs.
#include <cmath>

extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    const float* in = x + r * cols;
    float* out = y + r * cols;
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) sum += out[c] = std::exp(in[c]);
    for (int c = 0; c < cols; ++c) out[c] /= sum;
  }
}
