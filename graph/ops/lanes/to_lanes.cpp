#include "graph/ops/lanes/to_lanes.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/lane_shape.hpp"

namespace penstock::graph {
namespace {

/// Returns the number of elements of one sample of x [N,...].
std::int64_t sample_length(const Shape& x) {
  return x[0] == 0 ? 0 : x.elements() / x[0];
}

/// Returns the number of blocks of samples, which are the units.
std::int64_t units_of(const TensorType& lanes) {
  return lanes.shape[0];
}

/// A SampleRange has the samples of a part of the work: how many there are, how many elements each
/// sample has, and where the samples begin in x [N,...] and in x in the batch-lane layout.
struct SampleRange {
  std::int64_t count, length;
  float *x, *lanes;

  SampleRange(const KernelCall& call, const Operand& all, const Operand& all_lanes)
      : length(sample_length(all.shape())) {
    const Part part = elements_of(call.part, lane_count, all.shape()[0]);
    count = part.end - part.begin;
    x = all.f32().data() + part.begin * length;
    lanes = all_lanes.f32().data() + part.begin * length;
  }
};

std::vector<TensorType> infer_to_lanes(const Attributes&, Types in) {
  expect_inputs(in, 1, "x");
  expect_dtype(in[0], DType::f32, "x");
  expect_rank_from(in[0], 2, "x");
  return {{DType::f32, lane_shape(in[0].shape)}};
}

void forward_to_lanes(const KernelCall& call) {
  const SampleRange samples(call, call.inputs[0], call.outputs[0]);
  kernel_table().lanes.to_lanes(samples.count, samples.length, samples.x, samples.lanes);
}

void backward_to_lanes(GradientContext& context) {
  const std::int64_t batch = context.type(context.input(0)).shape[0];
  context.set(0, context.emit(from_lanes, {context.gradient(0)}, {{"batch", batch}}));
}

std::vector<OpSample> samples_to_lanes() {
  return {{.inputs = {{DType::f32, {16, 2, 3, 5}}}},
          {.inputs = {{DType::f32, {19, 17}}}},
          {.inputs = {{DType::f32, {5, 2, 1, 1}}}}};
}

std::vector<TensorType> infer_from_lanes(const Attributes& attributes, Types in) {
  expect_inputs(in, 1, "x");
  expect_dtype(in[0], DType::f32, "x");
  expect_rank_from(in[0], 3, "x");
  expect_lanes(in[0], in[0].shape.rank(), "x");
  return {{DType::f32, batch_shape(in[0].shape, lane_batch(attributes, in[0].shape))}};
}

void forward_from_lanes(const KernelCall& call) {
  const SampleRange samples(call, call.outputs[0], call.inputs[0]);
  kernel_table().lanes.from_lanes(samples.count, samples.length, samples.lanes, samples.x);
}

void backward_from_lanes(GradientContext& context) {
  context.set(0, context.emit(to_lanes, {context.gradient(0)}));
}

std::vector<OpSample> samples_from_lanes() {
  return {{.inputs = {{DType::f32, {1, 2, 3, 3, 16}}}, .attributes = {{"batch", 16}}},
          {.inputs = {{DType::f32, {2, 19, 16}}}, .attributes = {{"batch", 21}}}};
}

}  // namespace

const Op to_lanes{.name = "to_lanes",
                  .infer = infer_to_lanes,
                  .forward = forward_to_lanes,
                  .backward = backward_to_lanes,
                  .cost = streaming_cost<0>,
                  .units = [](const Attributes&, Types, Types out) { return units_of(out[0]); },
                  .samples = samples_to_lanes,
                  .enters_lanes = true};

const Op from_lanes{.name = "from_lanes",
                    .attributes = {attribute::batch},
                    .infer = infer_from_lanes,
                    .forward = forward_from_lanes,
                    .backward = backward_from_lanes,
                    .cost = streaming_cost<0>,
                    .units = [](const Attributes&, Types in, Types) { return units_of(in[0]); },
                    .samples = samples_from_lanes,
                    .leaves_lanes = true};

}  // namespace penstock::graph
