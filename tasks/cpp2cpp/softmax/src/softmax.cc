// Softmax of every row of a matrix: y[r][c] = exp(x[r][c] - m) / sum over k of exp(x[r][k] - m), with m the
// largest element of row r. Subtracting m changes nothing in exact arithmetic, and keeps exp from
// overflowing.
//
//   x     input,  rows * cols floats, row after row
//   y     output, the same shape; does not overlap x
//   rows, cols  any numbers >= 1
#include <algorithm>
#include <cmath>

extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    const float* in = x + static_cast<long>(r) * cols;
    float* out = y + static_cast<long>(r) * cols;
    float largest = in[0];
    for (int c = 1; c < cols; ++c) largest = std::max(largest, in[c]);
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) {
      out[c] = std::exp(in[c] - largest);
      sum += out[c];
    }
    for (int c = 0; c < cols; ++c) out[c] /= sum;
  }
}
