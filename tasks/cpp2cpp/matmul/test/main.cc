#include "harness.h"

extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k);

namespace {

std::size_t product(int rows, int cols) { return std::size_t(rows) * std::size_t(cols); }

std::vector<std::size_t> input_sizes(const kit::Shape& shape) {
  return {product(shape[0], shape[2]), product(shape[2], shape[1])};
}

std::size_t output_size(const kit::Shape& shape) { return product(shape[0], shape[1]); }

float random_value(kit::Rng& rng, std::size_t) { return rng.uniform(-1, 1); }

void kernel(const kit::Shape& shape, const kit::Inputs& inputs, float* output) {
  matmul(inputs[0], inputs[1], output, shape[0], shape[1], shape[2]);
}

void reference(const kit::Shape& shape, const kit::Inputs& inputs, std::vector<kit::Expected>& expected) {
  const int m = shape[0], n = shape[1], k = shape[2];
  for (int row = 0; row < m; ++row) {
    for (int i = 0; i < k; ++i) {
      const double a = inputs[0][row * k + i];
      for (int col = 0; col < n; ++col) {
        kit::Expected& e = expected[product(row, n) + std::size_t(col)];
        const double term = a * inputs[1][i * n + col];
        e.value += term;
        e.tolerance += std::fabs(term) * (k + 1) * 0x1p-24;
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  kit::Task task;
  task.dimensions = {"m", "n", "k"};
  task.correctness_shapes = {{1, 1, 1}, {3, 5, 7}, {17, 9, 33}, {64, 64, 64}, {50, 101, 13}, {6, 8, 130}};
  task.performance_shapes = {{64, 64, 64}, {100, 150, 200}, {256, 256, 256}};
  task.input_sizes = input_sizes;
  task.output_size = output_size;
  task.random_value = random_value;
  task.kernel = kernel;
  task.reference = reference;
  return kit::run(argc, argv, task);
}
