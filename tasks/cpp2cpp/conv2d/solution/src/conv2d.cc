// 2-D convolution in tiles of 4 output channels by 8 columns, whose 32 sums stay in registers.
//
// The image is first copied into one with a border of zeros, so that the inner loop asks no questions; then
// each eight pixels that are loaded are used for 4 output channels, and each weight for 8 pixels.
#include <algorithm>
#include <cstring>
#include <vector>

namespace {

typedef float Floats __attribute__((vector_size(16)));  // four lanes: one SSE or NEON register
constexpr int kLanes = 4;
constexpr int kTileCols = 2 * kLanes;
constexpr int kTileChannels = 4;
constexpr int kTaps = 9;

Floats load(const float* p) {
  Floats v;
  std::memcpy(&v, p, sizeof v);  // an unaligned load
  return v;
}

// A copy of x with one zero above, below and left of each channel, and at the right as many as complete the
// last tile.
class PaddedImage {
 public:
  PaddedImage(const float* x, int channels, int height, int width)
      : channels_(channels),
        rows_(height + 2),
        stride_((width + kTileCols - 1) / kTileCols * kTileCols + 2),
        values_(static_cast<std::size_t>(channels) * rows_ * stride_) {
    for (int i = 0; i < channels; ++i) {
      for (int r = 0; r < height; ++r) {
        std::copy_n(x + (i * height + r) * width, width, values_.data() + (i * rows_ + r + 1) * stride_ + 1);
      }
    }
  }
  int channels() const { return channels_; }
  int stride() const { return stride_; }
  // Upper left corner of the 3 by 3 pixels around pixel (r, c) of channel i.
  const float* around(int i, int r, int c) const { return values_.data() + (i * rows_ + r) * stride_ + c; }

 private:
  int channels_, rows_, stride_;
  std::vector<float> values_;
};

// `width` columns, from column c, of row r in Channels output planes; `out` and `filter` point to the first
// of them.
template <int Channels>
void convolve_tile(const PaddedImage& image, const float* filter, int r, int c, float* out, int plane,
                   int width) {
  const int weights = image.channels() * kTaps;  // of one output channel
  Floats low[Channels] = {};
  Floats high[Channels] = {};
  for (int i = 0; i < image.channels(); ++i) {
    for (int u = 0; u < 3; ++u) {
      const float* row = image.around(i, r, c) + u * image.stride();
      for (int v = 0; v < 3; ++v) {
        const Floats left = load(row + v);
        const Floats right = load(row + v + kLanes);
        const float* weight = filter + i * kTaps + u * 3 + v;
#pragma GCC unroll 4  // or else low[] and high[] are real arrays in memory
        for (int o = 0; o < Channels; ++o) {
          low[o] += weight[o * weights] * left;
          high[o] += weight[o * weights] * right;
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int o = 0; o < Channels; ++o) {
    const Floats sums[2] = {low[o], high[o]};
    std::memcpy(out + o * plane, sums, width * sizeof(float));
  }
}

}  // namespace

extern "C" void conv2d(const float* x, const float* filter, float* y, int in_channels, int out_channels,
                       int height, int width) {
  const PaddedImage image(x, in_channels, height, width);
  const int plane = height * width;
  const int weights = in_channels * kTaps;
  for (int r = 0; r < height; ++r) {
    for (int c = 0; c < width; c += kTileCols) {
      const int count = std::min(kTileCols, width - c);
      float* out = y + r * width + c;
      int o = 0;
      for (; o + kTileChannels <= out_channels; o += kTileChannels) {
        convolve_tile<kTileChannels>(image, filter + o * weights, r, c, out + o * plane, plane, count);
      }
      for (; o < out_channels; ++o) {
        convolve_tile<1>(image, filter + o * weights, r, c, out + o * plane, plane, count);
      }
    }
  }
}
