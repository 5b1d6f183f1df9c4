// must fail correctness: was modified at index
// The result is right, but the input is used as scratch space.
#include <algorithm>
#include <cmath>

extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    float* in = const_cast<float*>(x) + r * cols;
    const float largest = *std::max_element(in, in + cols);
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) sum += in[c] = std::exp(in[c] - largest);
    for (int c = 0; c < cols; ++c) y[r * cols + c] = in[c] / sum;
  }
}
