// must fail correctness: output[
// Computes once for each shape, and hands out the remembered result from then on.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  static std::map<std::tuple<int, int, int>, std::vector<float>> remembered;
  std::vector<float>& result = remembered[{m, n, k}];
  if (result.empty()) {
    result.assign(m * n, 0.0f);
    for (int row = 0; row < m; ++row) {
      for (int i = 0; i < k; ++i) {
        for (int col = 0; col < n; ++col) result[row * n + col] += a[row * k + i] * b[i * n + col];
      }
    }
  }
  std::copy(result.begin(), result.end(), c);
}
