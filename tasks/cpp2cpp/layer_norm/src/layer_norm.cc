// Layer normalization of every row of a matrix: y[r][c] = (x[r][c] - mean) / sqrt(variance + 1e-5) * scale[c]
// + shift[c], with the mean and the variance (divided by cols, not by cols - 1) of row r.
//
//   x             input,  rows * cols floats, row after row
//   scale, shift  inputs, cols floats each
//   y             output, the shape of x; overlaps no input
//   rows, cols    any numbers >= 1
#include <cmath>

extern "C" void layer_norm(const float* x, const float* scale, const float* shift, float* y, int rows,
                           int cols) {
  for (int r = 0; r < rows; ++r) {
    const float* in = x + static_cast<long>(r) * cols;
    float* out = y + static_cast<long>(r) * cols;
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) sum += in[c];
    const float mean = sum / cols;
    float squares = 0.0f;
    for (int c = 0; c < cols; ++c) squares += (in[c] - mean) * (in[c] - mean);
    const float deviation = std::sqrt(squares / cols + 1e-5f);
    for (int c = 0; c < cols; ++c) out[c] = (in[c] - mean) / deviation * scale[c] + shift[c];
  }
}
