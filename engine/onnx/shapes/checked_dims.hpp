// These pure functions compute with the dimensions that a file in the ONNX format says, which may
// be any numbers. A shape with an axis of 0 has no elements, however large its other axes are, and
// must not make products overflow. All of them throw Error corrupt_file for what is out of range.
#pragma once

#include <cstdint>
#include <string>

#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "penstock/shape.hpp"

namespace penstock {

/// Dimensions other than 0, and all that is computed from them, are at most this large.
inline constexpr std::int64_t largest_dimension = std::int64_t{1} << 48;

/// Returns the product of two numbers of 0 or more.
std::int64_t checked_product(std::int64_t a, std::int64_t b);
/// Returns `dims` as a Shape. Neither the product of all of its dimensions overflows nor that of
/// some of them.
Shape checked_shape(const Dims& dims);
/// Returns a text such as "[2,-1]" of any numbers, of which those behind the eighth one are left
/// out.
std::string text_of(const Dims& dims);

}  // namespace penstock
