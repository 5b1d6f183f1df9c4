// Matrix product C = A * B, all row after row.
//
//   a  input,  m rows of k floats
//   b  input,  k rows of n floats
//   c  output, m rows of n floats; overlaps neither a nor b
//   m, n, k  any numbers >= 1
extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      float sum = 0.0f;
      for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
      c[row * n + col] = sum;
    }
  }
}
