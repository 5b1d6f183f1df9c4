// Transposes a matrix: y[c][r] = x[r][c].
//
//   x  input,  rows rows of cols floats
//   y  output, cols rows of rows floats; does not overlap x
//   rows, cols  any numbers >= 1
extern "C" void transpose(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) y[c * rows + r] = x[r * cols + c];
  }
}
