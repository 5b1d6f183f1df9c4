#include "harness.h"

extern "C" void gelu(const float* x, float* y, int n);

namespace {

std::vector<std::size_t> input_sizes(const kit::Shape& shape) { return {std::size_t(shape[0])}; }

std::size_t output_size(const kit::Shape& shape) { return std::size_t(shape[0]); }

// Mostly where the curve bends; now and then far out, where only rounding is left.
float random_value(kit::Rng& rng, std::size_t) {
  return rng.below(64) ? rng.uniform(-6, 6) : rng.uniform(-60, 60);
}

void kernel(const kit::Shape& shape, const kit::Inputs& inputs, float* output) {
  gelu(inputs[0], output, shape[0]);
}

void reference(const kit::Shape& shape, const kit::Inputs& inputs, std::vector<kit::Expected>& expected) {
  for (std::size_t i = 0; i < output_size(shape); ++i) {
    const double x = inputs[0][i];
    expected[i] = {0.5 * x * std::erfc(-x * std::sqrt(0.5)), 2e-6 * std::max(1.0, std::fabs(x))};
  }
}

}  // namespace

int main(int argc, char** argv) {
  kit::Task task;
  task.dimensions = {"n"};
  task.correctness_shapes = {{1}, {7}, {64}, {1001}, {20000}};
  task.performance_shapes = {{4096}, {65536}, {250000}};
  task.input_sizes = input_sizes;
  task.output_size = output_size;
  task.random_value = random_value;
  task.kernel = kernel;
  task.reference = reference;
  return kit::run(argc, argv, task);
}
