#include "harness.h"

extern "C" void nbody(const float* bodies, float* acceleration, int n);

namespace {

std::vector<std::size_t> input_sizes(const kit::Shape& shape) { return {4 * std::size_t(shape[0])}; }

std::size_t output_size(const kit::Shape& shape) { return 3 * std::size_t(shape[0]); }

// Positions in a cube of side 2; masses too come out of both signs, which tests no less.
float random_value(kit::Rng& rng, std::size_t) { return rng.uniform(-1, 1); }

void kernel(const kit::Shape& shape, const kit::Inputs& inputs, float* output) {
  nbody(inputs[0], output, shape[0]);
}

void reference(const kit::Shape& shape, const kit::Inputs& inputs, std::vector<kit::Expected>& expected) {
  const int n = shape[0];
  const float* bodies = inputs[0];
  for (int i = 0; i < n; ++i) {
    kit::Expected* out = &expected[3 * std::size_t(i)];
    for (int j = 0; j < n; ++j) {
      double d[3], squared = 0.01;
      for (int axis = 0; axis < 3; ++axis) {
        d[axis] = double(bodies[4 * j + axis]) - bodies[4 * i + axis];
        squared += d[axis] * d[axis];
      }
      const double strength = bodies[4 * j + 3] / (squared * std::sqrt(squared));
      for (int axis = 0; axis < 3; ++axis) {
        out[axis].value += strength * d[axis];
        out[axis].tolerance += std::fabs(strength * d[axis]) * (n + 32) * 0x1p-24;
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  kit::Task task;
  task.dimensions = {"n"};
  task.correctness_shapes = {{1}, {2}, {7}, {64}, {101}, {333}};
  task.performance_shapes = {{100}, {333}, {1000}};
  task.input_sizes = input_sizes;
  task.output_size = output_size;
  task.random_value = random_value;
  task.kernel = kernel;
  task.reference = reference;
  return kit::run(argc, argv, task);
}
