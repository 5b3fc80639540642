#include "graph/ops/rules/expect.hpp"

#include <string>

#include "graph/values/number_range.hpp"
#include "penstock/error.hpp"

namespace penstock::graph {
namespace {

/// Returns how a refusal of elements of type `dtype` goes on where an op expects `wanted`.
std::string_view remedy(DType dtype, DType wanted) {
  if (wanted == DType::f32) return "; to_float() makes f32 of it";
  if (wanted != DType::i64) return "";
  return dtype == DType::f32 ? "; integers come from inputs, or from argmax() and sort()"
                             : "; to_i64() makes i64 of it";
}

}  // namespace

void expect(bool holds, const std::string& text) {
  if (!holds) throw Error(Errc::shape_mismatch, text);
}

void expect_inputs(Types inputs, std::size_t count, std::string_view names) {
  if (inputs.size() == count) return;
  expect(false, "expected " + std::to_string(count) + (count == 1 ? " input (" : " inputs (") +
                    std::string(names) + "), got " + std::to_string(inputs.size()));
}

void expect_dtype(const TensorType& type, DType dtype, std::string_view name) {
  if (type.dtype == dtype) return;
  expect(false, "expected " + std::string(name) + " of type " + std::string(to_string(dtype)) +
                    ", got " + to_string(type) + std::string(remedy(type.dtype, dtype)));
}

std::string rank_refusal(std::string_view expected, const std::string& got, const Shape& shape) {
  return "expected " + std::string(expected) + ", got " + got +
         (shape.rank() > 0 ? "; reshape() gives it another rank" : "");
}

std::string elements_refusal(std::string_view name, const std::string& got) {
  return "expected " + std::string(name) + " with at least one element, got " + got;
}

void expect_rank(const TensorType& type, std::size_t rank, std::string_view name) {
  if (type.shape.rank() == rank) return;
  expect(false, rank_refusal(std::string(name) + " of rank " + std::to_string(rank),
                             to_string(type), type.shape));
}

void expect_shape(const TensorType& type, const Shape& shape, std::string_view name) {
  if (type.shape == shape) return;
  expect(false, "expected " + std::string(name) + " of shape " + to_string(shape) + ", got " +
                    to_string(type.shape));
}

void expect_optional_bias(Types inputs, const Shape& shape) {
  if (inputs.size() == 2) return;
  expect_dtype(inputs[2], DType::f32, "bias");
  expect_shape(inputs[2], shape, "bias");
}

void expect_rank_from(const TensorType& type, std::size_t rank, std::string_view name) {
  if (type.shape.rank() >= rank) return;
  expect(false, rank_refusal(std::string(name) + " of rank " + std::to_string(rank) + " or more",
                             to_string(type), type.shape));
}

void expect_elements(const TensorType& type, std::string_view name) {
  if (type.shape.elements() == 0) expect(false, elements_refusal(name, to_string(type)));
}

void expect_eps(const Attributes& attributes) {
  check_f32("eps", attribute::norm_eps.of(attributes), {.low = 0, .above_low = true});
}

std::size_t expect_axis(std::int64_t axis, const TensorType& type, std::string_view name) {
  const auto rank = static_cast<std::int64_t>(type.shape.rank());
  expect_rank_from(type, 1, "x");
  if (axis < -rank || axis >= rank)
    expect(false, "expected " + std::string(name) + " from " + std::to_string(-rank) + " to " +
                      std::to_string(rank - 1) + ", got " + std::to_string(axis));
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

double expect_between(double value, double low, double high, std::string_view name) {
  if (value >= low && value <= high) return value;
  throw Error(Errc::invalid_argument, "expected " + std::string(name) + " from " +
                                          number_text(low) + " to " + number_text(high) + ", got " +
                                          number_text(value));
}

}  // namespace penstock::graph
