#include "graph/ops/norms/group_norm.hpp"

#include "graph/kernels/kernel_table.hpp"
#include "graph/ops/norms/normalise.hpp"
#include "graph/ops/rules/cost.hpp"
#include "graph/ops/rules/expect.hpp"
#include "graph/ops/rules/units.hpp"

namespace penstock::graph {

namespace attribute {

constexpr IntegerAttribute num_groups{"num_groups", 1};

}  // namespace attribute
namespace {

/// A Layout is the view of x as [samples, groups, channels of a group, inner]. A row is one group
/// of one sample.
struct Layout {
  std::int64_t samples, groups, channels, inner;

  Layout(const Attributes& attributes, const Shape& x)
      : samples(x[0]), groups(attribute::num_groups.of(attributes)), channels(x[1] / groups) {
    const std::int64_t rows = samples * x[1];
    inner = rows > 0 ? x.elements() / rows : 0;
  }
  std::int64_t rows() const { return samples * groups; }
  std::int64_t row_length() const { return channels * inner; }
  /// Returns which channel of x is channel `c` of the group of row `r`; begin() returns the index
  /// in x of the first element of that channel.
  std::int64_t channel(std::int64_t r, std::int64_t c) const { return r % groups * channels + c; }
  std::int64_t begin(std::int64_t r, std::int64_t c) const { return (r * channels + c) * inner; }
};

std::vector<TensorType> infer(const Attributes& attributes, Types in) {
  expect_inputs(in, in.size() == 1 ? 1 : 3, "x, weight, bias");
  expect_dtype(in[0], DType::f32, "x");
  expect_rank_from(in[0], 2, "x");
  expect_elements(in[0], "x");
  expect_eps(attributes);
  const std::int64_t groups = attribute::num_groups.of(attributes), channels = in[0].shape[1];
  expect(groups > 0 && channels % groups == 0,
         "expected channels that form " + std::to_string(groups) +
             " groups of the same size, got " + std::to_string(channels));
  for (std::size_t i = 1; i < in.size(); ++i) {
    const char* name = i == 1 ? "weight" : "bias";
    expect_dtype(in[i], DType::f32, name);
    expect_shape(in[i], {channels}, name);
  }
  const TensorType statistics{DType::f32, {in[0].shape[0], groups}};
  return {in[0], statistics, statistics};
}

void forward(const KernelCall& call) {
  const Operand &x = call.inputs[0], &y = call.outputs[0];
  const Layout layout(call.attributes, x.shape());
  const bool affine = call.inputs.size() == 3;
  const double eps = attribute::norm_eps.of(call.attributes);
  const Part rows = within(call.part, layout.rows());
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    const auto moments = moments_of(layout.row_length(), x.f32().data() + layout.begin(r, 0), eps);
    call.outputs[1].f32()[static_cast<std::size_t>(r)] = moments.mean;
    call.outputs[2].f32()[static_cast<std::size_t>(r)] = moments.inverse_std;
    for (std::int64_t c = 0; c < layout.channels; ++c) {
      const auto channel = static_cast<std::size_t>(layout.channel(r, c));
      const std::int64_t begin = layout.begin(r, c);
      kernel_table().norms.normalise(layout.inner, moments,
                                     affine ? call.inputs[1].f32()[channel] : 1.0f,
                                     affine ? call.inputs[2].f32()[channel] : 0.0f,
                                     x.f32().data() + begin, y.f32().data() + begin);
    }
  }
}

void backward(GradientContext& context) {
  const ValueId x = context.input(0), dy = context.gradient(0);
  const ValueId mean = context.output(1), inverse_std = context.output(2);
  const bool affine = context.input_count() == 3;
  if (context.needs(0)) {
    std::vector<ValueId> inputs{dy, x, mean, inverse_std};
    if (affine) inputs.push_back(context.input(1));
    context.set(0, context.emit(group_norm_input_gradient, inputs, context.attributes()));
  }
  if (!affine || !(context.needs(1) || context.needs(2))) return;
  const auto gradients = context.emit_all(group_norm_weight_gradient, {dy, x, mean, inverse_std},
                                          context.attributes());
  context.set(1, gradients[0]);
  context.set(2, gradients[1]);
}

std::vector<OpSample> samples() {
  const TensorType x{DType::f32, {2, 6, 3, 5}}, c{DType::f32, {6}};
  return {
      {.inputs = {x, c, c}, .attributes = {{"num_groups", std::int64_t{3}}}},
      {.inputs = {x}, .attributes = {{"num_groups", std::int64_t{1}}}},
      {.inputs = {{DType::f32, {4, 6}}, c, c}, .attributes = {{"num_groups", std::int64_t{2}}}}};
}

std::vector<TensorType> infer_input_gradient(const Attributes&, Types in) {
  expect_inputs(in, in.size() == 4 ? 4 : 5, "dy, x, mean, inverse_std, weight");
  expect_shape(in[1], in[0].shape, "x");
  return {in[0]};
}

void forward_input_gradient(const KernelCall& call) {
  const NormKernels& norms = kernel_table().norms;
  const Operand &dy = call.inputs[0], &x = call.inputs[1];
  const Layout layout(call.attributes, x.shape());
  const auto weight = [&](std::int64_t r, std::int64_t c) {
    return call.inputs.size() < 5
               ? 1.0f
               : call.inputs[4].f32()[static_cast<std::size_t>(layout.channel(r, c))];
  };
  const auto part = [&](const Operand& of, std::int64_t r, std::int64_t c) {
    return of.f32().data() + layout.begin(r, c);
  };
  const Part rows = within(call.part, layout.rows());
  for (std::int64_t r = rows.begin; r < rows.end; ++r) {
    const auto moments = stored_moments(call.inputs[2], call.inputs[3], r);
    GradientSums sums;
    for (std::int64_t c = 0; c < layout.channels; ++c)
      add_to(sums, norms.gradient_sums(layout.inner, moments, part(dy, r, c), part(x, r, c)),
             weight(r, c));
    const auto means = scaled(sums, 1.0 / static_cast<double>(layout.row_length()));
    for (std::int64_t c = 0; c < layout.channels; ++c)
      norms.input_gradient(layout.inner, moments, weight(r, c), means, part(dy, r, c),
                           part(x, r, c), part(call.outputs[0], r, c));
  }
}

std::vector<TensorType> infer_weight_gradient(const Attributes&, Types in) {
  expect_inputs(in, 4, "dy, x, mean, inverse_std");
  const TensorType weight{DType::f32, {in[1].shape[1]}};
  return {weight, weight};
}

void forward_weight_gradient(const KernelCall& call) {
  const Layout layout(call.attributes, call.inputs[1].shape());
  const Part channels = within(call.part, layout.groups * layout.channels);
  for (std::int64_t channel = channels.begin; channel < channels.end; ++channel) {
    const std::int64_t group = channel / layout.channels, c = channel % layout.channels;
    GradientSums sums;
    for (std::int64_t r = group; r < layout.rows(); r += layout.groups)
      add_to(sums, kernel_table().norms.gradient_sums(
                       layout.inner, stored_moments(call.inputs[2], call.inputs[3], r),
                       call.inputs[0].f32().data() + layout.begin(r, c),
                       call.inputs[1].f32().data() + layout.begin(r, c)));
    call.outputs[0].f32()[static_cast<std::size_t>(channel)] = static_cast<float>(sums.dy_x);
    call.outputs[1].f32()[static_cast<std::size_t>(channel)] = static_cast<float>(sums.dy);
  }
}

std::int64_t row_units(const Attributes& attributes, Types, Types out) {
  return Layout(attributes, out[0].shape).rows();
}

}  // namespace

const Op group_norm{.name = "group_norm",
                    .onnx = "GroupNormalization",
                    .attributes = {attribute::num_groups, attribute::norm_eps},
                    .infer = infer,
                    .forward = forward,
                    .backward = backward,
                    .cost = streaming_cost<6>,
                    .units = row_units,
                    .overwrites = {{0, 0}},
                    .samples = samples};

const Op group_norm_input_gradient{.name = "group_norm_input_gradient",
                                   .attributes = {attribute::num_groups, attribute::norm_eps},
                                   .infer = infer_input_gradient,
                                   .forward = forward_input_gradient,
                                   .cost = streaming_cost<10>,
                                   .units = row_units,
                                   .overwrites = {{0, 0}, {1, 0}}};

const Op group_norm_weight_gradient{.name = "group_norm_weight_gradient",
                                    .attributes = {attribute::num_groups, attribute::norm_eps},
                                    .infer = infer_weight_gradient,
                                    .forward = forward_weight_gradient,
                                    .cost = streaming_cost<4>,
                                    .units = axis_units<0>};

}  // namespace penstock::graph
