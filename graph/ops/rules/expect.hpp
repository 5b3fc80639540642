// Shape rules share these checks. Each check throws Error shape_mismatch, unless its comment names
// another error. The texts of the errors are written to stand behind the names of the op and of the
// layer, as in `conv2d "conv2": `.
#pragma once

#include <string>
#include <string_view>

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr RealAttribute norm_eps{"eps", 1e-5};

}  // namespace attribute

/// Returns the text of the refusal of a rank: "expected x of rank 4, got f32[40,320]; reshape()
/// gives it another rank". `expected` is "x of rank 4" there. `got` is the text of what came, whose
/// shape is `shape`. A single number has no axis for samples, and so no layer reshapes it.
std::string rank_refusal(std::string_view expected, const std::string& got, const Shape& shape);

/// Returns the text of the refusal of a tensor without elements: "expected x with at least one
/// element, got f32[40,0]". `name` is "x" there, and `got` is the text of what came.
std::string elements_refusal(std::string_view name, const std::string& got);

/// Checks that there are `count` inputs. The refusal lists the names of the inputs as `names` does:
/// "expected 3 inputs (x, weight, bias), got 2".
void expect_inputs(Types inputs, std::size_t count, std::string_view names);
/// Checks the type of the elements, with a refusal such as "expected x of type f32, got i64[40];
/// to_float() makes f32 of it".
/// `name` is the name of the input, here and in the other checks of one input.
void expect_dtype(const TensorType& type, DType dtype, std::string_view name);
/// Checks the number of dimensions, with a refusal such as "expected x of rank 4, got f32[40,320];
/// reshape() gives it another rank".
void expect_rank(const TensorType& type, std::size_t rank, std::string_view name);
/// Checks the shape, with a refusal such as "expected weight of shape [10,320], got [10,256]".
void expect_shape(const TensorType& type, const Shape& shape, std::string_view name);
/// Checks that there are either two inputs or a third one that is an f32 bias of `shape`.
void expect_optional_bias(Types inputs, const Shape& shape);
/// Checks that there are at least `rank` dimensions, with a refusal such as "expected x of rank 2
/// or more, got f32[3]; reshape() gives it another rank".
void expect_rank_from(const TensorType& type, std::size_t rank, std::string_view name);
/// Returns the number of the axis, where 0 is the first axis. A negative `axis` counts from the
/// end. An axis that `type` does not have is refused: "expected axis from -2 to 1, got 5".
std::size_t expect_axis(std::int64_t axis, const TensorType& type, std::string_view name = "axis");
/// Checks that a tensor is not empty, with a refusal such as "expected x with at least one element,
/// got f32[40,0]".
void expect_elements(const TensorType& type, std::string_view name);
/// Checks that the attribute eps of a normalisation is above 0, also when it is rounded to f32.
/// @throws Error invalid_argument, such as "eps: expected more than 0, got 0".
void expect_eps(const Attributes& attributes);
/// Returns `value`, which is an attribute called `name`, if `value` is from `low` to `high`.
/// @throws Error invalid_argument otherwise, such as "expected p from 0 to 1, got 1.5".
double expect_between(double value, double low, double high, std::string_view name);
/// Throws Error shape_mismatch with `text` if `holds` is false.
void expect(bool holds, const std::string& text);

}  // namespace penstock::graph
