#include "graph/ops/movement/slices.hpp"

#include <algorithm>
#include <cmath>

#include "graph/ops/rules/along_axis.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/moving.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr IntegerAttribute begin{"begin"};
constexpr IntegerAttribute end{"end"};
constexpr IntegerAttribute before{"before"};
constexpr IntegerAttribute after{"after"};
constexpr RealAttribute value{"value"};

}  // namespace attribute
namespace {

std::vector<TensorType> infer_slice(const Attributes& attributes, Types in) {
  const DType dtype = moved_type(in);
  const auto axis = expect_axis(attribute::axis.of(attributes), in[0]);
  const std::int64_t begin = attribute::begin.of(attributes), end = attribute::end.of(attributes);
  const std::int64_t size = in[0].shape.begin()[axis];
  expect(begin >= 0 && begin <= end && end <= size,
         "expected 0 <= begin <= end <= " + std::to_string(size) + ", got begin " +
             std::to_string(begin) + " and end " + std::to_string(end));
  return {{dtype, in[0].shape.with(static_cast<std::ptrdiff_t>(axis), end - begin)}};
}

/// A SliceLines describes a slice of a tensor whose rows have row() elements. In each row, the
/// slice begins at element `begin` and has `length` elements.
struct SliceLines {
  Lines whole;
  std::int64_t begin, length;

  SliceLines(std::int64_t axis, std::int64_t first, const Shape& whole_shape,
             const Shape& slice_shape)
      : whole(lines_along(whole_shape, axis)),
        begin(first * whole.inner),
        length(lines_along(slice_shape, axis).length * whole.inner) {}
  std::int64_t row() const { return whole.length * whole.inner; }
};

void forward_slice(const KernelCall& call) {
  const SliceLines lines(attribute::axis.of(call.attributes), attribute::begin.of(call.attributes),
                         call.inputs[0].shape(), call.outputs[0].shape());
  move_elements(call, [&](const auto* x, auto* y) {
    for (std::int64_t i = 0; i < lines.whole.outer; ++i)
      std::copy_n(x + lines.begin + i * lines.row(), lines.length, y + i * lines.length);
  });
}

void backward_slice(GradientContext& context) {
  const Attributes& attributes = context.attributes();
  const std::int64_t axis = attribute::axis.of(attributes), end = attribute::end.of(attributes);
  const std::int64_t size = context.type(context.input(0)).shape[axis];
  context.set(
      0, context.emit(
             pad, {context.gradient(0)},
             {{"axis", axis}, {"before", attribute::begin.of(attributes)}, {"after", size - end}}));
}

std::vector<OpSample> slice_samples() {
  const TensorType x{DType::f32, {3, 5, 4}};
  const auto range = [](std::int64_t axis, std::int64_t begin, std::int64_t end) {
    return Attributes{{"axis", axis}, {"begin", begin}, {"end", end}};
  };
  return {{.inputs = {x}, .attributes = range(1, 1, 3)},
          {.inputs = {x}, .attributes = range(0, 2, 3)},
          {.inputs = {x}, .attributes = range(-1, 0, 4)}};
}

struct Bounds {
  double low, high;
};

/// Returns the integers that elements of type `dtype`, which is not f32, may be made of. Beyond
/// 2^53, a double is no exact integer.
Bounds bounds_of(DType dtype) {
  if (dtype == DType::u8) return {0, 255};
  if (dtype == DType::boolean) return {0, 1};
  if (dtype == DType::i32) return {-0x1p31, 0x1p31 - 1};
  return {-0x1p53, 0x1p53};
}

void expect_value_of(DType dtype, double value) {
  check_f32("value", value, any_number);
  if (dtype == DType::f32) return;
  const auto [low, high] = bounds_of(dtype);
  const std::string range =
      dtype == DType::i64 ? "" : " from " + number_text(low) + " to " + number_text(high);
  expect(value == std::floor(value) && value >= low && value <= high,
         "expected an integer" + range + " as the value of elements of type " +
             std::string(to_string(dtype)) + ", got " + number_text(value));
}

std::vector<TensorType> infer_pad(const Attributes& attributes, Types in) {
  const DType dtype = moved_type(in);
  const auto axis = static_cast<std::ptrdiff_t>(expect_axis(attribute::axis.of(attributes), in[0]));
  const std::int64_t before = attribute::before.of(attributes),
                     after = attribute::after.of(attributes);
  constexpr std::int64_t most = std::int64_t{1} << 48;  // No shape has more elements.
  expect(before >= 0 && after >= 0 && before <= most && after <= most,
         "expected 0 elements or more before and after, as many as a tensor can have, got " +
             std::to_string(before) + " and " + std::to_string(after));
  expect_value_of(dtype, attribute::value.of(attributes));
  return {{dtype, in[0].shape.with(axis, in[0].shape[axis] + before + after)}};
}

void forward_pad(const KernelCall& call) {
  const SliceLines lines(attribute::axis.of(call.attributes), attribute::before.of(call.attributes),
                         call.outputs[0].shape(), call.inputs[0].shape());
  const double value = attribute::value.of(call.attributes);
  move_elements(call, [&]<class T>(const T* x, T* y) {
    for (std::int64_t i = 0; i < lines.whole.outer; ++i, y += lines.row(), x += lines.length) {
      T* const copied = std::fill_n(y, lines.begin, static_cast<T>(value));
      T* const behind = std::copy_n(x, lines.length, copied);
      std::fill(behind, y + lines.row(), static_cast<T>(value));
    }
  });
}

void backward_pad(GradientContext& context) {
  const Attributes& attributes = context.attributes();
  const std::int64_t axis = attribute::axis.of(attributes),
                     begin = attribute::before.of(attributes);
  const std::int64_t end = begin + context.type(context.input(0)).shape[axis];
  context.set(0, context.emit(slice, {context.gradient(0)},
                              {{"axis", axis}, {"begin", begin}, {"end", end}}));
}

std::vector<OpSample> pad_samples() {
  const TensorType x{DType::f32, {3, 5, 4}};
  return {{.inputs = {x}, .attributes = {{"axis", 1}, {"before", 2}, {"value", -2.0}}},
          {.inputs = {x}, .attributes = {{"axis", -1}, {"before", 1}, {"after", 3}}},
          {.inputs = {x}, .attributes = {{"after", 1}}}};
}

}  // namespace

const Op slice{.name = "slice",
               .onnx = "Slice",
               .attributes = {attribute::axis, attribute::begin, attribute::end},
               .infer = infer_slice,
               .forward = forward_slice,
               .backward = backward_slice,
               .cost = streaming_cost<0>,
               .samples = slice_samples};

const Op pad{.name = "pad",
             .onnx = "Pad",
             .attributes = {attribute::axis, attribute::before, attribute::after, attribute::value},
             .infer = infer_pad,
             .forward = forward_pad,
             .backward = backward_pad,
             .cost = streaming_cost<0>,
             .samples = pad_samples,
             .keeps_elements = true};

}  // namespace penstock::graph
