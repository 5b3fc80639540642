// A Convolution has the sizes of a convolution as networks have it, and a Pass says what of it is
// computed. Both are plain values.
#pragma once

#include <cstdint>

namespace penstock::benchmarks {

/// A Convolution maps x [N,C,S,S] and weights [O,C/groups,k,k] to y [N,O,T,T]. There are k / 2
/// zeros on each side of an image, and k is odd. A convolution without a stride therefore keeps the
/// image's size.
struct Convolution {
  std::int64_t in_channels, out_channels;
  std::int64_t kernel;    ///< `kernel` is the k of the shapes.
  std::int64_t size = 1;  ///< `size` is the S of the shapes.
  std::int64_t stride = 1;
  std::int64_t groups = 1;
  std::int64_t images = 1;

  std::int64_t padding() const { return kernel / 2; }
  /// Returns the T of the shapes.
  std::int64_t out_size() const { return (size - 1) / stride + 1; }
};

/// The forward pass computes y from x and the weights, the weight gradient computes the gradient of
/// the weights from x and that of y, and the input gradient computes the gradient of x from that of
/// y and the weights.
enum class Pass : std::uint8_t { forward, weight_gradient, input_gradient };

}  // namespace penstock::benchmarks
