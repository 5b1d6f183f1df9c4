#include "harness.h"

extern "C" void prefix_sum(const float* x, float* y, int n);

namespace {

std::vector<std::size_t> input_sizes(const kit::Shape& shape) { return {std::size_t(shape[0])}; }

std::size_t output_size(const kit::Shape& shape) { return std::size_t(shape[0]); }

// Whole numbers, so small that no partial sum leaves the range in which floats hold every whole number
// (2^24).
float random_value(kit::Rng& rng, std::size_t) { return static_cast<float>(rng.below(17)) - 8.0f; }

void kernel(const kit::Shape& shape, const kit::Inputs& inputs, float* output) {
  prefix_sum(inputs[0], output, shape[0]);
}

void reference(const kit::Shape& shape, const kit::Inputs& inputs, std::vector<kit::Expected>& expected) {
  double sum = 0;
  for (std::size_t i = 0; i < output_size(shape); ++i) {
    sum += inputs[0][i];
    expected[i].value = sum;
  }
}

}  // namespace

int main(int argc, char** argv) {
  kit::Task task;
  task.dimensions = {"n"};
  task.correctness_shapes = {{1}, {7}, {16}, {1001}, {4096}, {30011}};
  task.performance_shapes = {{4096}, {65536}, {1000000}};
  task.input_sizes = input_sizes;
  task.output_size = output_size;
  task.random_value = random_value;
  task.kernel = kernel;
  task.reference = reference;
  return kit::run(argc, argv, task);
}
