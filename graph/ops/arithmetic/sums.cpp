#include "graph/ops/arithmetic/sums.hpp"

#include <algorithm>

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/axes.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/lane_shape.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {

namespace attribute {

constexpr IntegerAttribute axis{"axis", 1};
constexpr FlagAttribute running{"running"};

}  // namespace attribute
namespace {

std::vector<TensorType> infer_channel(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "x");
  expect_dtype(in[0], DType::f32, "x");
  expect_rank_from(in[0], 2, "x");
  const std::size_t axis = expect_axis(attribute::axis.of(attributes), in[0]);
  return {{DType::f32, {in[0].shape.begin()[axis]}}};
}

void forward_channel(const KernelCall& call) {
  const auto [outer, channels, inner] =
      lines_along(call.inputs[0].shape(), attribute::axis.of(call.attributes));
  kernel_table().reductions.channel_sums(outer, channels, inner, call.part,
                                         call.inputs[0].f32().data(), call.outputs[0].f32().data());
}

Cost channel_cost(const Attributes&, Types in, Types) {
  return {.flops = static_cast<double>(in[0].shape.elements()),
          .bytes = static_cast<double>(in[0].bytes())};
}

std::vector<OpSample> channel_samples() {
  const TensorType x{DType::f32, {2, 3, 4, 5}};
  return {{.inputs = {{DType::f32, {4, 3}}}},
          {.inputs = {x}},
          {.inputs = {x}, .attributes = {{"axis", std::int64_t{-1}}}}};
}

std::vector<TensorType> infer_lanes(const Attributes&, Types in) {
  expect_inputs(in, 1, "x");
  expect_lanes(in[0], 5, "x");
  return {{DType::f32, {in[0].shape[1]}}};
}

void forward_lanes(const KernelCall& call) {
  const Shape& x = call.inputs[0].shape();
  kernel_table().lanes.channel_sums({x[0], x[1], x[2], x[3]}, call.part,
                                    call.inputs[0].f32().data(), call.outputs[0].f32().data());
}

std::vector<OpSample> lanes_samples() {
  return {{.inputs = {{DType::f32, {2, 3, 4, 5, 16}}}},
          {.inputs = {{DType::f32, {1, 7, 3, 1, 16}}}}};
}

std::vector<TensorType> infer_accumulate(const Attributes&, Types in) {
  expect_inputs(in, 2, "sum, x");
  expect_dtype(in[0], DType::f32, "sum");
  expect_dtype(in[1], DType::f32, "x");
  expect_shape(in[1], in[0].shape, "x");
  return {in[0]};
}

void forward_accumulate(const KernelCall& call) {
  const Operand &sum = call.inputs[0], &x = call.inputs[1], &out = call.outputs[0];
  const auto [first, count] = ElementRange(call, out.elements());
  const float *from = sum.f32().data() + first, *more = x.f32().data() + first;
  float* const to = out.f32().data() + first;
  if (call.summed == 0) {
    std::copy_n(more, count, to);
    return;
  }
  if (!attribute::running.of(call.attributes)) {
    kernel_table().arithmetic.add(count, {from, false}, {more, false}, to);
    return;
  }
  const auto k = static_cast<double>(call.summed);
  kernel_table().arithmetic.blend(count, static_cast<float>(k / (k + 1)), from,
                                  static_cast<float>(1 / (k + 1)), more, to);
}

std::vector<OpSample> accumulate_samples() {
  const TensorType x{DType::f32, {3, 7}};
  return {{.inputs = {x, x}}, {.inputs = {x, x}, .attributes = {{"running", std::int64_t{1}}}}};
}

}  // namespace

const Op channel_sum{.name = "channel_sum",
                     .attributes = {attribute::axis},
                     .infer = infer_channel,
                     .forward = forward_channel,
                     .cost = channel_cost,
                     .units = axis_units<0>,
                     .samples = channel_samples};

const Op channel_sum_lanes{.name = "channel_sum_lanes",
                           .infer = infer_lanes,
                           .forward = forward_lanes,
                           .cost = streaming_cost<1>,
                           .units = axis_units<0>,
                           .samples = lanes_samples};

const Op accumulate{.name = "accumulate",
                    .attributes = {attribute::running},
                    .infer = infer_accumulate,
                    .forward = forward_accumulate,
                    .cost = streaming_cost<1>,
                    .units = element_units,
                    .updates = {{0, 0}},
                    .samples = accumulate_samples};

}  // namespace penstock::graph
