// The checks that shape rules share. Each throws Error shape_mismatch with a text that fits after
// `conv2d "conv2": `.
#pragma once

#include <string_view>

#include "graph/ir/op.hpp"

namespace penstock::graph {

namespace attribute {

inline constexpr RealAttribute norm_eps{"eps", 1e-5};

}  // namespace attribute

/// "expected 3 inputs (x, weight, bias), got 2"; `names` lists them.
void expect_inputs(Types inputs, std::size_t count, std::string_view names);
/// "expected x of type f32, got i64[40]".
void expect_dtype(const TensorType& type, DType dtype, std::string_view name);
/// "expected x of rank 4, got f32[40,320]".
void expect_rank(const TensorType& type, std::size_t rank, std::string_view name);
/// "expected weight of shape [10,320], got [10,256]".
void expect_shape(const TensorType& type, const Shape& shape, std::string_view name);
/// Two inputs, or a third one, an f32 bias of that shape.
void expect_optional_bias(Types inputs, const Shape& shape);
/// "expected x of rank 2 or more, got f32[3]".
void expect_rank_from(const TensorType& type, std::size_t rank, std::string_view name);
/// The axis counted from the first, where a negative one counts from the end:
/// "expected axis from -2 to 1, got 5".
std::size_t expect_axis(std::int64_t axis, const TensorType& type, std::string_view name = "axis");
/// "expected x with at least one element, got f32[40,0]": for ops that make no sense of nothing.
void expect_elements(const TensorType& type, std::string_view name);
/// "eps: expected more than 0, got 0", with Error invalid_argument: a normalisation's, as an f32.
void expect_eps(const Attributes& attributes);
/// The value, an attribute's: "expected p from 0 to 1, got 1.5", with Error invalid_argument.
double expect_between(double value, double low, double high, std::string_view name);
/// Throws Error shape_mismatch with `text` unless `holds`.
void expect(bool holds, const std::string& text);

}  // namespace penstock::graph
