#include "harness.h"

extern "C" void conv2d(const float* x, const float* filter, float* y, int in_channels, int out_channels,
                       int height, int width);

namespace {

std::vector<std::size_t> input_sizes(const kit::Shape& shape) {
  const std::size_t in = std::size_t(shape[0]), out = std::size_t(shape[1]);
  return {in * std::size_t(shape[2]) * std::size_t(shape[3]), out * in * 9};
}

std::size_t output_size(const kit::Shape& shape) {
  return std::size_t(shape[1]) * std::size_t(shape[2]) * std::size_t(shape[3]);
}

float random_value(kit::Rng& rng, std::size_t) { return rng.uniform(-1, 1); }

void kernel(const kit::Shape& shape, const kit::Inputs& inputs, float* output) {
  conv2d(inputs[0], inputs[1], output, shape[0], shape[1], shape[2], shape[3]);
}

// Adds each pixel to the outputs it reaches, so that it shares no index arithmetic with the kernel.
void reference(const kit::Shape& shape, const kit::Inputs& inputs, std::vector<kit::Expected>& expected) {
  const int in = shape[0], out = shape[1], height = shape[2], width = shape[3];
  const float* weight = inputs[1];
  for (int o = 0; o < out; ++o) {
    for (int i = 0; i < in; ++i) {
      for (int down = -1; down <= 1; ++down) {
        for (int right = -1; right <= 1; ++right, ++weight) {
          for (int row = std::max(0, down); row < std::min(height, height + down); ++row) {
            for (int col = std::max(0, right); col < std::min(width, width + right); ++col) {
              kit::Expected& e = expected[std::size_t(((o * height) + row - down) * width + col - right)];
              const double term = double(*weight) * inputs[0][(i * height + row) * width + col];
              e.value += term;
              e.tolerance += std::fabs(term) * (9 * in + 1) * 0x1p-24;
            }
          }
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  kit::Task task;
  task.dimensions = {"in", "out", "height", "width"};
  task.correctness_shapes = {{1, 1, 1, 1},   {2, 3, 5, 7},  {3, 5, 17, 9},
                             {4, 4, 16, 16}, {1, 9, 3, 33}, {5, 6, 20, 31}};
  task.performance_shapes = {{8, 8, 32, 32}, {3, 16, 50, 70}, {16, 8, 64, 64}};
  task.input_sizes = input_sizes;
  task.output_size = output_size;
  task.random_value = random_value;
  task.kernel = kernel;
  task.reference = reference;
  return kit::run(argc, argv, task);
}
