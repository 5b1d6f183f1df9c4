// 2-D convolution with 3 by 3 filters, as neural networks mean it (the filter is not flipped), stride 1, and
// zeros around the image so that the output is as large as the input: y[o][r][c] = sum over i, u, v of x[i][r
// + u - 1][c + v - 1] * filter[o][i][u][v], with x = 0 outside of the image.
//
//   x       input,  in_channels * height * width floats
//   filter  input,  out_channels * in_channels * 3 * 3 floats
//   y       output, out_channels * height * width floats; overlaps no input
//   in_channels, out_channels, height, width  any numbers >= 1
extern "C" void conv2d(const float* x, const float* filter, float* y, int in_channels, int out_channels,
                       int height, int width) {
  for (int o = 0; o < out_channels; ++o) {
    for (int r = 0; r < height; ++r) {
      for (int c = 0; c < width; ++c) {
        float sum = 0.0f;
        for (int i = 0; i < in_channels; ++i) {
          for (int u = 0; u < 3; ++u) {
            for (int v = 0; v < 3; ++v) {
              const int row = r + u - 1;
              const int col = c + v - 1;
              if (row < 0 || row >= height || col < 0 || col >= width) continue;
              sum += x[(i * height + row) * width + col] * filter[((o * in_channels + i) * 3 + u) * 3 + v];
            }
          }
        }
        y[(o * height + r) * width + c] = sum;
      }
    }
  }
}
