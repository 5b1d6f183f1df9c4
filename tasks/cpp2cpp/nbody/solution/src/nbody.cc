// Gravity for four bodies at once.
//
// The four lanes of a vector hold four different i, and all meet the same j: the sums need no joining at the
// end, and the square roots and divisions, which take most of the naive loop's time, come four for the price
// of one.
#include <algorithm>
#include <cmath>
#if defined(__SSE__)
#include <xmmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace {

typedef float Floats __attribute__((vector_size(16)));  // four lanes: one SSE or NEON register
constexpr int kLanes = 4;

// The compiler does not vectorize std::sqrt, which has to set errno for a negative argument; the instruction
// does not.
Floats square_root(Floats v) {
#if defined(__SSE__)
  return _mm_sqrt_ps(v);
#elif defined(__aarch64__)
  return vsqrtq_f32(v);
#else
  for (int i = 0; i < kLanes; ++i) v[i] = std::sqrt(v[i]);
  return v;
#endif
}

}  // namespace

extern "C" void nbody(const float* bodies, float* acceleration, int n) {
  for (int first = 0; first < n; first += kLanes) {
    const int count = std::min(kLanes, n - first);
    Floats x{}, y{}, z{};
    for (int i = 0; i < count; ++i) {
      const float* body = bodies + 4 * (first + i);
      x[i] = body[0];
      y[i] = body[1];
      z[i] = body[2];
    }
    Floats ax{}, ay{}, az{};
    for (int j = 0; j < n; ++j) {
      const float* body = bodies + 4 * j;
      const Floats dx = body[0] - x;
      const Floats dy = body[1] - y;
      const Floats dz = body[2] - z;
      const Floats squared = dx * dx + dy * dy + dz * dz + 0.01f;
      const Floats strength = body[3] / (squared * square_root(squared));
      ax += strength * dx;
      ay += strength * dy;
      az += strength * dz;
    }
    for (int i = 0; i < count; ++i) {
      float* out = acceleration + 3 * (first + i);
      out[0] = ax[i];
      out[1] = ay[i];
      out[2] = az[i];
    }
  }
}
