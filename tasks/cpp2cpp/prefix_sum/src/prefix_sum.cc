// Inclusive prefix sum: y[i] = x[0] + x[1] + ... + x[i].
//
//   x  input,  n floats
//   y  output, n floats; does not overlap x
//   n  any number >= 1
extern "C" void prefix_sum(const float* x, float* y, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) {
    sum += x[i];
    y[i] = sum;
  }
}
