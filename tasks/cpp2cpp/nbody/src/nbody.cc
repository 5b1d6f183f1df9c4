// Gravity among n bodies: the acceleration of body i is the sum over all j of
// mass_j * (position_j - position_i) / (|position_j - position_i|^2 + 0.01)^(3/2).
// The softening of 0.01 keeps close pairs finite, and makes the term j = i zero. The gravitational constant
// is 1.
//
//   bodies        input,  n times four floats: x, y, z, mass
//   acceleration  output, n times three floats: x, y, z; does not overlap bodies
//   n             any number >= 1
#include <cmath>

extern "C" void nbody(const float* bodies, float* acceleration, int n) {
  for (int i = 0; i < n; ++i) {
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; ++j) {
      const float dx = bodies[4 * j] - bodies[4 * i];
      const float dy = bodies[4 * j + 1] - bodies[4 * i + 1];
      const float dz = bodies[4 * j + 2] - bodies[4 * i + 2];
      const float squared = dx * dx + dy * dy + dz * dz + 0.01f;
      const float strength = bodies[4 * j + 3] / (squared * std::sqrt(squared));
      ax += strength * dx;
      ay += strength * dy;
      az += strength * dz;
    }
    acceleration[3 * i] = ax;
    acceleration[3 * i + 1] = ay;
    acceleration[3 * i + 2] = az;
  }
}
