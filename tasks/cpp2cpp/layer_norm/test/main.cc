#include "harness.h"

extern "C" void layer_norm(const float* x, const float* scale, const float* shift, float* y, int rows,
                           int cols);

namespace {

std::size_t output_size(const kit::Shape& shape) { return std::size_t(shape[0]) * std::size_t(shape[1]); }

std::vector<std::size_t> input_sizes(const kit::Shape& shape) {
  const std::size_t cols = std::size_t(shape[1]);
  return {output_size(shape), cols, cols};
}

// The rows of x have a mean of about 1 and a standard deviation of about 2.3; scale and shift are in [-1, 1].
float random_value(kit::Rng& rng, std::size_t input) {
  return input == 0 ? rng.uniform(-3, 5) : rng.uniform(-1, 1);
}

void kernel(const kit::Shape& shape, const kit::Inputs& inputs, float* output) {
  layer_norm(inputs[0], inputs[1], inputs[2], output, shape[0], shape[1]);
}

void reference(const kit::Shape& shape, const kit::Inputs& inputs, std::vector<kit::Expected>& expected) {
  const int rows = shape[0], cols = shape[1];
  const double sum_error = (cols + 16) * 0x1p-24;  // relative to the sum of the terms' magnitudes
  for (int r = 0; r < rows; ++r) {
    const float* x = inputs[0] + r * cols;
    double sum = 0, magnitude = 0, squares = 0;
    for (int c = 0; c < cols; ++c) {
      sum += x[c];
      magnitude += std::fabs(x[c]);
    }
    const double mean = sum / cols;
    for (int c = 0; c < cols; ++c) squares += (x[c] - mean) * (x[c] - mean);
    const double deviation = std::sqrt(squares / cols + 1e-5);
    const double mean_error = sum_error * magnitude / cols;
    for (int c = 0; c < cols; ++c) {
      const double normal = (x[c] - mean) / deviation;
      const double scale = inputs[1][c], shift = inputs[2][c];
      const double normal_error =
          mean_error / deviation * (1 + std::fabs(normal)) + sum_error * std::fabs(normal);
      expected[std::size_t(r * cols + c)] = {
          normal * scale + shift, normal_error * std::fabs(scale) + 4 * 0x1p-24 * std::fabs(shift)};
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  kit::Task task;
  task.dimensions = {"rows", "cols"};
  task.correctness_shapes = {{1, 1}, {3, 7}, {5, 130}, {17, 33}, {2, 1001}, {8, 64}};
  task.performance_shapes = {{256, 64}, {64, 768}, {16, 4096}};
  task.input_sizes = input_sizes;
  task.output_size = output_size;
  task.random_value = random_value;
  task.kernel = kernel;
  task.reference = reference;
  return kit::run(argc, argv, task);
}
