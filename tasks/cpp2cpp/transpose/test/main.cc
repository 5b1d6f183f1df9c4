#include "harness.h"

extern "C" void transpose(const float* x, float* y, int rows, int cols);

namespace {

std::size_t elements(const kit::Shape& shape) { return std::size_t(shape[0]) * std::size_t(shape[1]); }

std::vector<std::size_t> input_sizes(const kit::Shape& shape) { return {elements(shape)}; }

float random_value(kit::Rng& rng, std::size_t) { return rng.uniform(-1, 1); }

void kernel(const kit::Shape& shape, const kit::Inputs& inputs, float* output) {
  transpose(inputs[0], output, shape[0], shape[1]);
}

void reference(const kit::Shape& shape, const kit::Inputs& inputs, std::vector<kit::Expected>& expected) {
  const std::size_t rows = std::size_t(shape[0]), cols = std::size_t(shape[1]);
  for (std::size_t c = 0; c < cols; ++c) {
    for (std::size_t r = 0; r < rows; ++r) expected[c * rows + r].value = inputs[0][r * cols + c];
  }
}

}  // namespace

int main(int argc, char** argv) {
  kit::Task task;
  task.dimensions = {"rows", "cols"};
  task.correctness_shapes = {{1, 1}, {1, 13}, {13, 1}, {5, 7}, {64, 64}, {33, 130}, {101, 35}};
  task.performance_shapes = {{256, 256}, {500, 700}, {1024, 512}};
  task.input_sizes = input_sizes;
  task.output_size = elements;
  task.random_value = random_value;
  task.kernel = kernel;
  task.reference = reference;
  return kit::run(argc, argv, task);
}
