// A Window2d says how a window slides over the last two axes of [N,C,H,W]; convolution and pooling
// share it. It is a plain value.
#pragma once

#include <array>
#include <cstdint>

#include "graph/ir/op.hpp"

namespace penstock::graph {

/// A Pair has a number for the height, and then a number for the width.
using Pair = std::array<std::int64_t, 2>;

struct Window2d {
  Pair kernel = {1, 1};
  Pair stride = {1, 1};
  Pair padding = {0, 0};
  Pair dilation = {1, 1};

  /// Returns how many pixels the window covers along `axis` (0 is the height, 1 the width), from
  /// the first to the last.
  std::int64_t extent(std::size_t axis) const noexcept {
    return dilation[axis] * (kernel[axis] - 1) + 1;
  }
  /// Returns the index along `axis` of the input pixel at position `k` of the window of output
  /// `out`. In the padding, the index is outside of the input.
  std::int64_t position(std::size_t axis, std::int64_t out, std::int64_t k) const noexcept {
    return out * stride[axis] - padding[axis] + k * dilation[axis];
  }
  std::int64_t cells() const noexcept { return kernel[0] * kernel[1]; }
};

/// A PairAttribute declares an attribute that is an integer for both axes, or a list of one or two
/// integers.
struct PairAttribute : DeclaredAttribute {
  constexpr PairAttribute(std::string_view name, Pair otherwise)
      : DeclaredAttribute{name, AttributeKind::pair}, fallback(otherwise) {}
  /// Returns the pair, or `fallback` if the attribute is not set. The function with a parameter
  /// `otherwise` returns `otherwise` in place of `fallback`.
  /// @throws Error shape_mismatch, such as "expected stride of one or two integers, got 3".
  Pair of(const Attributes& attributes) const { return of(attributes, fallback); }
  Pair of(const Attributes& attributes, Pair otherwise) const;
  Pair fallback;
};

namespace attribute {

inline constexpr PairAttribute kernel{"kernel", {0, 0}};
inline constexpr PairAttribute stride{"stride", {1, 1}};
inline constexpr PairAttribute padding{"padding", {0, 0}};
inline constexpr PairAttribute dilation{"dilation", {1, 1}};
inline constexpr PairAttribute input_size{"input_size", {0, 0}};
inline constexpr IntegerAttribute groups{"groups", 1};
/// `ceil_mode` says whether a last window that is partly outside of the padded image is pooled,
/// too, if it begins inside the image or the padding before it.
inline constexpr FlagAttribute ceil_mode{"ceil_mode"};
/// `count_include_pad` says whether an average counts the padding as zeros, or leaves it out.
inline constexpr FlagAttribute count_include_pad{"count_include_pad", true};

}  // namespace attribute

/// Returns the window of a convolution with a kernel of size `kernel`. The attributes have the
/// stride, padding and dilation of the window.
Window2d conv_window(const Attributes& attributes, Pair kernel);
/// Returns the window of a pooling. The attributes have the kernel, stride (by default the kernel),
/// padding and dilation of the window.
Window2d pool_window(const Attributes& attributes);

/// Checks that no number of `window` is too small or too large.
/// @throws Error shape_mismatch with a text that names what is out of range.
void expect_window(const Window2d& window);
/// Checks that an image with its padding has not too many rows or columns, which are `size`.
void expect_padded(std::int64_t size);
/// Returns how many windows fit along each axis into `x` [N,C,H,W] with its padding.
/// @throws Error shape_mismatch with a text that names what is out of range, or says that the
/// kernel is too large.
Pair window_counts(const Window2d& window, const TensorType& x);

/// Returns `attributes` with the height and width of `x` as the attribute `input_size`. A gradient
/// op cannot tell the height and width from its inputs.
Attributes with_input_size(Attributes attributes, const Shape& x);
/// Returns the shape `pooled` [N,C,OH,OW] with the height and width of the attribute `input_size`.
Shape image_shape(const Attributes& attributes, const Shape& pooled);

/// A Range is a range of outputs, from `begin` up to but without `end`.
struct Range {
  std::int64_t begin;
  std::int64_t end;
};
/// Returns which of the `count` outputs along `axis` have position `k` of their window inside an
/// input of `size` pixels.
Range inside(const Window2d& window, std::size_t axis, std::int64_t k, std::int64_t size,
             std::int64_t count) noexcept;

}  // namespace penstock::graph
