#include "harness.h"

extern "C" void softmax(const float* x, float* y, int rows, int cols);

namespace {

std::size_t elements(const kit::Shape& shape) { return std::size_t(shape[0]) * std::size_t(shape[1]); }

std::vector<std::size_t> input_sizes(const kit::Shape& shape) { return {elements(shape)}; }

// Now and then a value whose exp is no float: a kernel must subtract the row's largest element first.
float random_value(kit::Rng& rng, std::size_t) {
  return rng.below(256) ? rng.uniform(-8, 8) : rng.uniform(80, 100);
}

void kernel(const kit::Shape& shape, const kit::Inputs& inputs, float* output) {
  softmax(inputs[0], output, shape[0], shape[1]);
}

void reference(const kit::Shape& shape, const kit::Inputs& inputs, std::vector<kit::Expected>& expected) {
  const int rows = shape[0], cols = shape[1];
  for (int r = 0; r < rows; ++r) {
    const float* x = inputs[0] + r * cols;
    const double largest = *std::max_element(x, x + cols);
    double sum = 0;
    for (int c = 0; c < cols; ++c) sum += std::exp(x[c] - largest);
    for (int c = 0; c < cols; ++c) {
      const double y = std::exp(x[c] - largest) / sum;
      expected[std::size_t(r * cols + c)] = {y, y * (cols + 16 + largest - x[c]) * 0x1p-24 + 1e-37};
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  kit::Task task;
  task.dimensions = {"rows", "cols"};
  task.correctness_shapes = {{1, 1}, {3, 7}, {5, 130}, {17, 33}, {2, 1001}, {8, 64}};
  task.performance_shapes = {{128, 128}, {64, 1000}, {16, 8192}};
  task.input_sizes = input_sizes;
  task.output_size = elements;
  task.random_value = random_value;
  task.kernel = kernel;
  task.reference = reference;
  return kit::run(argc, argv, task);
}
