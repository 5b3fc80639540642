#include "graph/ops/casts/casts.hpp"

#include <algorithm>
#include <limits>

#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"
#include "graph/values/element_type.hpp"
#include "graph/values/number_range.hpp"

namespace penstock::graph {

namespace attribute {

constexpr RealAttribute scale{"scale", 1};
constexpr RealAttribute shift{"shift"};
constexpr IntegerAttribute size{"size"};

}  // namespace attribute
namespace {

void expect_channel_constants(const Attributes& attributes, Types in) {
  expect(!attributes.has(attribute::scale.name) && !attributes.has(attribute::shift.name),
         "expected scale and shift as attributes or as inputs, got both");
  expect_rank_from(in[0], 2, "x");
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const char* const name = i == 1 ? "scale" : "shift";
    expect_dtype(in[i], DType::f32, name);
    expect_shape(in[i], {in[0].shape[1]}, name);
  }
}

std::vector<TensorType> infer_float(const Attributes& attributes, Types in) {
  if (in.size() == 3)
    expect_channel_constants(attributes, in);
  else
    expect_inputs(in, 1, "x");
  check_f32("scale", attribute::scale.of(attributes), any_number);
  check_f32("shift", attribute::shift.of(attributes), any_number);
  if (in[0].dtype == DType::f32)
    expect(false, "expected x of type u8, i32, i64 or bool, got " + to_string(in[0]));
  return {{DType::f32, in[0].shape}};
}

/// An Affine is the function y = x·scale + shift.
struct Affine {
  float scale, shift;

  template <class T>
  void apply(std::int64_t count, const T* x, float* y) const {
    for (std::int64_t i = 0; i < count; ++i) y[i] = static_cast<float>(x[i]) * scale + shift;
  }
};

/// Divides the elements of `range`, which is a range in a tensor of the shape `x` [N,C,...], into
/// runs that lie in one channel. Calls `visit(channel, begin, end)` for each run, which has the
/// elements from `begin` to `end` - 1.
void for_each_channel_run(const ElementRange& range, const Shape& x, const auto& visit) {
  const std::int64_t channels = x[1], row = x.elements() / std::max<std::int64_t>(x[0], 1);
  const std::int64_t run = std::max<std::int64_t>(row / std::max<std::int64_t>(channels, 1), 1);
  const std::int64_t last = range.first + range.count;
  for (std::int64_t at = range.first; at < last;) {
    const std::int64_t number = at / run, end = std::min((number + 1) * run, last);
    visit(static_cast<std::size_t>(number % channels), at, end);
    at = end;
  }
}

void forward_float(const KernelCall& call) {
  const Operand& x = call.inputs[0];
  float* const y = call.outputs[0].f32().data();
  const ElementRange range(call, x.elements());
  with_element_type(x.type->dtype, [&]<class T>() {
    const T* const from = static_cast<const T*>(x.data);
    if (call.inputs.size() == 1) {
      const Affine affine{static_cast<float>(attribute::scale.of(call.attributes)),
                          static_cast<float>(attribute::shift.of(call.attributes))};
      return affine.apply(range.count, from + range.first, y + range.first);
    }
    const auto scales = call.inputs[1].f32(), shifts = call.inputs[2].f32();
    for_each_channel_run(range, x.shape(), [&](std::size_t c, std::int64_t at, std::int64_t end) {
      Affine{scales[c], shifts[c]}.apply(end - at, from + at, y + at);
    });
  });
}

std::vector<OpSample> float_samples() {
  const TensorType constants{DType::f32, {3}};
  const Attributes attributes{{"scale", 0.125}, {"shift", -3.5}};
  return {{.inputs = {{DType::u8, {3, 2, 7}}}, .attributes = attributes, .labels = 256},
          {.inputs = {{DType::i32, {5, 9}}}, .attributes = {{"scale", 0.3}}, .labels = 70'000},
          {.inputs = {{DType::i64, {41}}}, .attributes = {{"shift", 1.0}}, .labels = 3},
          {.inputs = {{DType::boolean, {2, 11}}}, .labels = 2},
          {.inputs = {{DType::u8, {2, 3, 5, 4}}, constants, constants}, .labels = 256},
          {.inputs = {{DType::i32, {7, 3}}, constants, constants}, .labels = 9}};
}

std::vector<TensorType> infer_i64(const Attributes&, Types in) {
  expect_inputs(in, 1, "x");
  if (in[0].dtype == DType::f32 || in[0].dtype == DType::i64)
    expect(false, "expected x of type u8, i32 or bool, got " + to_string(in[0]));
  return {{DType::i64, in[0].shape}};
}

void forward_i64(const KernelCall& call) {
  const Operand& x = call.inputs[0];
  const ElementRange range(call, x.elements());
  with_element_type(x.type->dtype, [&]<class T>() {
    const T* const from = static_cast<const T*>(x.data) + range.first;
    std::copy_n(from, range.count, call.outputs[0].i64().data() + range.first);
  });
}

std::vector<OpSample> i64_samples() {
  return {{.inputs = {{DType::u8, {3, 2, 7}}}, .labels = 256},
          {.inputs = {{DType::i32, {41}}}, .labels = 70'000},
          {.inputs = {{DType::boolean, {2, 11}}}, .labels = 2}};
}

std::vector<TensorType> infer_index(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "x");
  expect(in[0].dtype == DType::f32 || in[0].dtype == DType::i64,
         "expected x of type f32 or i64, got " + to_string(in[0]));
  const std::int64_t size = attribute::size.of(attributes);
  expect(size >= 0, "expected a size of 0 or more, got " + std::to_string(size));
  return {{DType::i64, in[0].shape}};
}

std::int64_t whole_number(std::int64_t x) {
  return x;
}

/// Returns x without its fraction, or a number that is no index of any axis if i64 does not hold
/// it.
std::int64_t whole_number(float x) {
  constexpr float limit = 0x1p63f;
  return x > -limit && x < limit ? static_cast<std::int64_t>(x)
                                 : std::numeric_limits<std::int64_t>::max();
}

void forward_index(const KernelCall& call) {
  const Operand& x = call.inputs[0];
  const ElementRange range(call, x.elements());
  const std::int64_t size = attribute::size.of(call.attributes);
  std::int64_t* const y = call.outputs[0].i64().data() + range.first;
  const auto convert = [&](const auto* from) {
    for (std::int64_t i = 0; i < range.count; ++i) {
      const std::int64_t number = whole_number(from[i]);
      y[i] = number < 0 ? number + size : number;
    }
  };
  if (x.type->dtype == DType::f32)
    convert(x.f32().data() + range.first);
  else
    convert(x.i64().data() + range.first);
}

std::vector<OpSample> index_samples() {
  return {{.inputs = {{DType::f32, {3, 7}}}, .attributes = {{"size", 5}}, .low = -5, .high = 5},
          {.inputs = {{DType::i64, {41}}}, .labels = 9}};
}

}  // namespace

const Op to_float{.name = "to_float",
                  .onnx = "Cast",
                  .attributes = {attribute::scale, attribute::shift},
                  .infer = infer_float,
                  .forward = forward_float,
                  .cost = streaming_cost<2>,
                  .units = element_units,
                  .samples = float_samples};

const Op to_i64{.name = "to_i64",
                .onnx = "Cast",
                .infer = infer_i64,
                .forward = forward_i64,
                .cost = streaming_cost<0>,
                .units = element_units,
                .samples = i64_samples,
                .keeps_elements = true};

const Op to_index{.name = "to_index",
                  .onnx = "Cast",
                  .attributes = {attribute::size},
                  .infer = infer_index,
                  .forward = forward_index,
                  .cost = streaming_cost<1>,
                  .units = element_units,
                  .samples = index_samples};

}  // namespace penstock::graph
