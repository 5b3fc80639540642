// These pure functions compute the dimensions that ONNX's operators give to their results, for
// tensors that are known at import and for values of the model alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock {

/// Dims are the dimensions of a tensor, the slowest first, or a number for each of them.
using Dims = std::vector<std::int64_t>;

/// Returns axis number `axis` of `rank` axes; a negative one counts from the end.
/// @throws Error corrupt_file, as all of these functions, if there is no such axis.
std::size_t axis_of(std::int64_t axis, std::size_t rank);
/// Returns the dimensions that Reshape gives to a tensor of the dimensions `dims`: a 0 in `wanted`
/// keeps the dimension in that place unless `allow_zero` is true, and a -1 stands for whatever is
/// left.
Dims reshaped_dims(const Dims& dims, Dims wanted, bool allow_zero);
/// Returns the two dimensions that Flatten gives: the product of those before `axis`, and that of
/// the others.
Dims flattened_dims(const Dims& dims, std::int64_t axis);
/// Returns `dims` without `axes`, which have one element, or without all that have one if there are
/// no `axes`.
Dims squeezed_dims(const Dims& dims, const Dims& axes);
/// Returns `dims` with new axes of one element, whose numbers in the result are `axes`.
Dims unsqueezed_dims(const Dims& dims, const Dims& axes);
/// Returns the sizes of the first `parts` parts into which Split cuts an axis of `size` elements:
/// those of `sizes` if there are any, or else `parts` of one size, except for the last one, which
/// may be smaller.
Dims split_sizes(std::int64_t size, const Dims& sizes, std::size_t parts);
/// Checks that Tile has a number in `repeats` for each of `rank` axes.
void check_repeats(const Dims& repeats, std::size_t rank);

}  // namespace penstock
