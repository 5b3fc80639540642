// The normalizations, and Dropout.
#include <array>
#include <numeric>

#include "engine/onnx/folding/fold_call.hpp"
#include "engine/onnx/import/operators.hpp"
#include "engine/onnx/import/windows.hpp"
#include "engine/onnx/shapes/reshaped_dims.hpp"
#include "graph/ops/arithmetic/arithmetic.hpp"
#include "graph/ops/arithmetic/elementary.hpp"
#include "graph/ops/arithmetic/expand.hpp"
#include "graph/ops/arithmetic/reductions.hpp"
#include "graph/ops/arithmetic/vector_norm.hpp"
#include "graph/ops/movement/concat.hpp"
#include "graph/ops/movement/rearrange.hpp"
#include "graph/ops/movement/slices.hpp"
#include "graph/ops/norms/batch_norm.hpp"
#include "graph/ops/norms/group_norm.hpp"
#include "graph/ops/norms/layer_norm.hpp"

namespace penstock {
namespace {

/// Moments are the mean, the variance and the inverse deviation of a value over axes, which have
/// one element.
struct Moments {
  Value mean, variance, inverse;
};

Moments moments_of(NodeImport& n, const Value& x, const Dims& axes, double eps) {
  const graph::Attributes over{{"axes", axes}, {"keep", std::int64_t{1}}};
  Moments moments;
  moments.mean = n.apply(graph::mean, {x}, over);
  const Value difference = n.apply(graph::sub, {x, moments.mean});
  moments.variance = n.apply(graph::mean, {n.apply(graph::mul, {difference, difference})}, over);
  moments.inverse =
      n.apply(graph::rsqrt, {n.apply(graph::add, {moments.variance, n.network.number(eps)})});
  return moments;
}

Value normalized(NodeImport& n, const Value& x, const Moments& moments) {
  return n.apply(graph::mul, {n.apply(graph::sub, {x, moments.mean}), moments.inverse});
}

/// Computes a batch norm of training step by step, with the statistics that it would keep.
Results batch_norm_with_statistics(NodeImport& n) {
  const auto rank = n.rank(0);
  if (!n.input(0).placement || !n.input(0).placement->whole)
    throw MixedSamples{"its statistics over samples are outputs"};
  Dims axes;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (axis != 1)
      axes.push_back(n.network.axis_of_value(n.input(0), static_cast<std::int64_t>(axis)));
  const Value x = n.value(0);
  const Moments moments = moments_of(n, x, axes, n.real("epsilon", 1e-5));
  const std::int64_t channels = n.dims(0)[1];
  Dims of_channels(rank, 1);
  of_channels[1] = channels;
  const auto seen = [&](std::size_t i) { return n.network.reshaped_value(n.raw(i), of_channels); };
  const Value y =
      n.apply(graph::add, {n.apply(graph::mul, {normalized(n, x, moments), seen(1)}), seen(2)});
  const double momentum = n.real("momentum", 0.9);
  const auto moved = [&](std::size_t i, const Value& statistic) {
    const Value old = n.apply(graph::scale, {n.raw(i)}, {{"factor", momentum}});
    const Value batch_statistic = n.network.reshaped_value(statistic, {0, channels});
    const Value recent = n.apply(graph::scale, {batch_statistic}, {{"factor", 1 - momentum}});
    return n.like_first(n.apply(graph::add, {recent, old}));
  };
  return {n.like_first(y), moved(3, moments.mean), moved(4, moments.variance)};
}

// A norm in its form for inference is one whose statistics are frozen, so that
// Model::unfreeze_statistics() gives it the form for training.
Results batch_norm(NodeImport& n) {
  n.expect_supported(n.integer("spatial", 1) == 1,
                     "its attribute spatial asks for statistics of each element");
  n.expect(n.rank(0) >= 2, "expected an input [N,C,...]");
  // Before version 14, a norm that is in its form for training has the statistics as outputs.
  const bool training = n.opset < 14 ? n.node.outputs.size() > 1 : n.flag("training_mode");
  if (training && (n.wants(1) || n.wants(2))) return batch_norm_with_statistics(n);
  const Images images = images_of(n);
  if (training && n.network.is_run())
    return {of_images(n, n.apply(graph::untracked_batch_norm, {images.value, n.raw(1), n.raw(2)},
                                 {{"eps", n.real("epsilon", 1e-5)}}))};
  const Value mean = n.network.buffer(n.input(3)), variance = n.network.buffer(n.input(4));
  const Value y =
      n.apply(graph::batch_norm, {images.value, n.raw(1), n.raw(2), mean, variance},
              {{"eps", n.real("epsilon", 1e-5)}, {"momentum", 1 - n.real("momentum", 0.9)}});
  if (!training) {
    n.network.model().freeze_statistics(n.network.name_of(mean));
    n.network.model().freeze_statistics(n.network.name_of(variance));
  }
  return {of_images(n, y)};
}

Results instance_norm(NodeImport& n) {
  const Images images = images_of(n);
  return {
      of_images(n, n.apply(graph::group_norm, {images.value, n.raw(1), n.raw(2)},
                           {{"num_groups", images.channels}, {"eps", n.real("epsilon", 1e-5)}}))};
}

/// Weights belong to the channels or, before version 21, to the groups.
Results group_norm(NodeImport& n) {
  const Images images = images_of(n);
  const std::int64_t groups = n.integer("num_groups", 1);
  n.expect(groups >= 1 && images.channels % groups == 0,
           "expected a number of channels that divides into the groups");
  const auto of_channels = [&](std::size_t i) {
    const Value parameter = n.raw(i);
    if (n.dims(i) == Dims{images.channels}) return parameter;
    const Value column = n.network.reshaped_value(parameter, {groups, 1});
    const Value spread =
        n.apply(graph::expand, {column}, {{"shape", Dims{groups, images.channels / groups}}});
    return n.network.reshaped_value(spread, {images.channels});
  };
  return {of_images(n, n.apply(graph::group_norm, {images.value, of_channels(1), of_channels(2)},
                               {{"num_groups", groups}, {"eps", n.real("epsilon", 1e-5)}}))};
}

/// The mean and the inverse deviation are further outputs, with one element along reduced axes.
Results layer_norm(NodeImport& n) {
  Imported& x = n.input(0);
  const std::size_t rank = n.rank(0), first = axis_of(n.integer("axis", -1), rank);
  const double eps = n.real("epsilon", 1e-5);
  Dims axes;
  for (std::size_t axis = first; axis < rank; ++axis)
    axes.push_back(n.network.axis_of_value(x, static_cast<std::int64_t>(axis)));
  const Dims dims = n.dims(0);
  const Dims last(dims.begin() + static_cast<std::ptrdiff_t>(first), dims.end());
  const bool plain = x.placement && n.dims(1) == last && (!n.has(2) || n.dims(2) == last) &&
                     !n.wants(1) && !n.wants(2);
  if (plain) {
    std::vector<Value> inputs{n.value(0), n.raw(1)};
    if (n.has(2)) inputs.push_back(n.raw(2));
    return {n.like_first(n.apply(graph::layer_norm, inputs, {{"eps", eps}}))};
  }
  const Value value = n.value(0);
  const Moments moments = moments_of(n, value, axes, eps);
  Imported y = n.like_first(normalized(n, value, moments));
  const auto combine = [&](std::size_t i, const graph::Op& op) {
    const auto [values, placement] = n.network.aligned({&y, &n.input(i)});
    y = n.result(n.apply(op, values), y.type, placement);
  };
  combine(1, graph::mul);
  if (n.has(2)) combine(2, graph::add);
  return {y, n.like_first(moments.mean), n.like_first(moments.inverse)};
}

Results mean_variance_norm(NodeImport& n) {
  Dims axes = n.integers("axes"), of_value;
  if (axes.empty()) axes = {0, 2, 3};
  for (const std::int64_t axis : axes)
    of_value.push_back(n.network.axis_of_value(n.input(0), axis));
  const Value x = n.value(0);
  return {n.like_first(normalized(n, x, moments_of(n, x, of_value, 1e-9)))};
}

Results lp_norm(NodeImport& n) {
  const std::int64_t axis = n.network.axis_of_value(n.input(0), n.integer("axis", -1));
  const Value x = n.value(0);
  const Value norm = n.apply(graph::vector_norm, {x},
                             {{"axes", Dims{axis}},
                              {"keep", std::int64_t{1}},
                              {"p", static_cast<double>(n.integer("p", 2))}});
  return {n.like_first(n.apply(graph::div, {x, norm}))};
}

/// Divides by a power of the sum of squares over neighbouring channels (Krizhevsky et al., 2012).
Results local_response_norm(NodeImport& n) {
  const std::int64_t size = n.integer("size", 1);
  const std::int64_t axis = n.network.axis_of_value(n.input(0), 1);
  const std::int64_t channels = n.dims(0)[1];
  n.expect(size >= 1 && size <= (1 << 16), "expected a size from 1 to 65536");
  const Value x = n.value(0);
  const Value squares = n.apply(graph::pad, {n.apply(graph::mul, {x, x})},
                                {{"axis", axis}, {"before", (size - 1) / 2}, {"after", size / 2}});
  Value sum;
  for (std::int64_t i = 0; i < size; ++i) {
    const Value part =
        n.apply(graph::slice, {squares}, {{"axis", axis}, {"begin", i}, {"end", i + channels}});
    sum = sum ? n.apply(graph::add, {sum, part}) : part;
  }
  const double alpha = n.real("alpha", 1e-4) / static_cast<double>(size);
  const Value base = n.apply(graph::add, {n.apply(graph::scale, {sum}, {{"factor", alpha}}),
                                          n.network.number(n.real("bias", 1))});
  const Value divisor = n.apply(graph::pow, {base}, {{"exponent", n.real("beta", 0.75)}});
  return {n.like_first(n.apply(graph::div, {x, divisor}))};
}

// The mask says which elements are kept, which are all of them unless the node is one of training.
Results dropout(NodeImport& n) {
  const double ratio = n.opset < 12 ? n.real("ratio", 0.5) : n.has(1) ? n.known_number(1) : 0.5;
  const bool training = n.opset >= 12 && n.has(2) && n.known_number(2) != 0;
  n.expect_supported(!training || ratio == 0 || !(n.wants(1) || n.network.is_run()),
                     "its results are random numbers, because it is in its form for training");
  Results results{n.input(0)};
  n.expect_supported(ratio == 0 || n.network.is_run() || n.input(0).placement,
                     "it drops elements of a value that does not depend on samples");
  if (ratio != 0 && !n.network.is_run())
    results[0] =
        n.like_first(n.network.model().dropout(n.network.unused_name(), n.value(0), ratio));
  if (!n.wants(1)) return results;
  const Value x = n.value(0);
  const Value all = n.apply(graph::sub, {n.network.number(1), n.apply(graph::less, {x, x})});
  results.push_back(n.result(all, OnnxType::boolean, n.input(0).placement));
  return results;
}

}  // namespace

std::span<const OnnxOperator> norm_operators() {
  static constexpr std::array<OnnxOperator, 8> operators{{
      {"BatchNormalization", batch_norm},
      {"Dropout", dropout},
      {"GroupNormalization", group_norm},
      {"InstanceNormalization", instance_norm},
      {"LRN", local_response_norm},
      {"LayerNormalization", layer_norm},
      {"LpNormalization", lp_norm},
      {"MeanVarianceNormalization", mean_variance_norm},
  }};
  return operators;
}

}  // namespace penstock
