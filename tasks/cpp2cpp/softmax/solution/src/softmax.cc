// Softmax on four elements at once, with an exp made of a polynomial and an exponent, and one division a row.
#include <algorithm>
#include <cstring>

namespace {

typedef float Floats __attribute__((vector_size(16)));  // four lanes: one SSE or NEON register
typedef int Ints __attribute__((vector_size(16)));
constexpr int kLanes = 4;

Floats load(const float* p) {
  Floats v;
  std::memcpy(&v, p, sizeof v);  // an unaligned load
  return v;
}

// The last `count` elements of a row, the other lanes filled with `filler`.
Floats load_tail(const float* p, int count, float filler) {
  Floats v = Floats{} + filler;
  std::memcpy(&v, p, count * sizeof(float));
  return v;
}

Floats max(Floats a, Floats b) { return a > b ? a : b; }

// exp(x) for x <= 0, within 2e-7 of it relatively; 2^-126, instead of something smaller, far below 0.
// x = k * ln(2) + r with a whole k and |r| <= ln(2) / 2, thus exp(x) = 2^k * exp(r), and exp(r) is a
// Chebyshev fit.
Floats exp_of(Floats x) {
  x = max(x, Floats{} - 87.0f);
  constexpr float kRound =
      12582912.0f;  // 1.5 * 2^23: adding it leaves the nearest whole number in the low bits
  const Floats shifted = x * 1.44269504f + kRound;
  const Floats k = shifted - kRound;
  const Floats r = x - k * 0.693359375f + k * 2.12194440e-4f;  // ln(2) in two parts, the first with few bits
  Floats p = Floats{} + 8.369148491e-3f;
  p = p * r + 4.191750725e-2f;
  p = p * r + 1.666650526e-1f;
  p = p * r + 4.999886938e-1f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return (Floats)((Ints)p + ((Ints)shifted << 23));  // k is added to the exponent bits
}

void softmax_row(const float* in, float* out, int cols) {
  const int tail = cols % kLanes;
  const int whole = cols - tail;

  Floats largest = load_tail(in + whole, tail, in[0]);
  for (int c = 0; c < whole; c += kLanes) largest = max(largest, load(in + c));
  const float top = std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));

  Floats sums{};
  for (int c = 0; c < whole; c += kLanes) {
    const Floats e = exp_of(load(in + c) - top);
    std::memcpy(out + c, &e, sizeof e);
    sums += e;
  }
  float sum = sums[0] + sums[1] + sums[2] + sums[3];
  const Floats last = exp_of(load_tail(in + whole, tail, top) - top);
  std::memcpy(out + whole, &last, tail * sizeof(float));
  for (int i = 0; i < tail; ++i) sum += last[i];

  const float scale = 1.0f / sum;
  for (int c = 0; c < whole; c += kLanes) {
    const Floats y = load(out + c) * scale;
    std::memcpy(out + c, &y, sizeof y);
  }
  for (int c = whole; c < cols; ++c) out[c] *= scale;
}

}  // namespace

extern "C" void softmax(const float* x, float* y, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    const long start = static_cast<long>(r) * cols;
    softmax_row(x + start, y + start, cols);
  }
}
