// Matrix product in tiles of 4 rows by 8 columns, whose 32 sums stay in registers while k runs.
//
// Each element of A that is loaded is used for 8 columns, and each of B for 4 rows; the naive loop loads two
// numbers for every product. B is first copied, 8 columns at a time, into a panel where one k follows the
// other: its rows lie far apart, and every step of k would touch another cache line.
#include <algorithm>
#include <cstring>
#include <vector>

namespace {

typedef float Floats __attribute__((vector_size(16)));  // four lanes: one SSE or NEON register
constexpr int kLanes = 4;
constexpr int kTileRows = 4;
constexpr int kTileCols = 2 * kLanes;

struct PanelRow {
  Floats low, high;
};

// Columns [col, col + width) of b; what is missing to a full tile is zero.
void fill_panel(std::vector<PanelRow>& panel, const float* b, int n, int col, int width) {
  for (std::size_t i = 0; i < panel.size(); ++i) {
    float row[kTileCols] = {};
    std::memcpy(row, b + i * n + col, width * sizeof(float));
    std::memcpy(&panel[i], row, sizeof row);
  }
}

// Writes Rows rows of `width` columns of c.
template <int Rows>
void multiply_tile(const float* a, const std::vector<PanelRow>& panel, float* c, int n, int width) {
  const std::size_t k = panel.size();
  Floats low[Rows] = {};
  Floats high[Rows] = {};
  for (std::size_t i = 0; i < k; ++i) {
    const PanelRow b = panel[i];
#pragma GCC unroll 4  // or else low[] and high[] are real arrays in memory
    for (int r = 0; r < Rows; ++r) {
      low[r] += a[r * k + i] * b.low;
      high[r] += a[r * k + i] * b.high;
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) {
    const PanelRow sums = {low[r], high[r]};
    std::memcpy(c + r * n, &sums, width * sizeof(float));
  }
}

}  // namespace

extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  std::vector<PanelRow> panel(k);
  for (int col = 0; col < n; col += kTileCols) {
    const int width = std::min(kTileCols, n - col);
    fill_panel(panel, b, n, col, width);
    int row = 0;
    for (; row + kTileRows <= m; row += kTileRows) {
      multiply_tile<kTileRows>(a + row * k, panel, c + row * n + col, n, width);
    }
    for (; row < m; ++row) multiply_tile<1>(a + row * k, panel, c + row * n + col, n, width);
  }
}
