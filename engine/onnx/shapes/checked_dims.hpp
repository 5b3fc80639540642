// These pure functions compute with the dimensions that a file in the ONNX format says, which may
// be any numbers. A shape with an axis of 0 has no elements, however large its other axes are, and
// must not make products overflow. All of them throw Error corrupt_file for what is out of range.
#pragma once

#include <cstdint>
#include <string>

#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "penstock/shape.hpp"

namespace penstock {

/// No dimension of a checked shape is larger than this, and neither is the product of any of its
/// dimensions that are not 0.
inline constexpr std::int64_t largest_dimension = std::int64_t{1} << 48;

/// Returns the product of two sizes of 0 or more, which is at most `largest_dimension`.
std::int64_t checked_product(std::int64_t a, std::int64_t b);
/// Returns `dims` as a Shape.
Shape checked_shape(const Dims& dims);
/// Returns a text such as "[2,-1]". It has the first eight numbers at most, and "..." in place of
/// those behind them.
std::string text_of(const Dims& dims);

}  // namespace penstock
