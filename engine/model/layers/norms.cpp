// These are the normalizations of Model. Their weights start at 1, their biases at 0.
#include "engine/model/model_state.hpp"
#include "graph/ops/norms/batch_norm.hpp"
#include "graph/ops/norms/group_norm.hpp"
#include "graph/ops/norms/layer_norm.hpp"
#include "graph/ops/norms/rms_norm.hpp"
#include "graph/ops/rules/expect.hpp"

namespace penstock {
namespace {

constexpr Initializer zeros{.center = 0};
constexpr Initializer ones{.center = 1};

using Dims = std::vector<std::int64_t>;

/// Adds the weight and the bias of a norm, or constants in their place.
void add_affine(Layer& layer, const Dims& dims, bool affine, bool bias = true) {
  if (affine)
    layer.parameter("weight", dims, ones);
  else
    layer.filled(dims, 1);
  if (affine && bias) layer.parameter("bias", dims, zeros);
}

/// Returns the last `axes` axes of the layer's x. @throws Error as Layer::expect().
Dims last_axes(const Layer& layer, int axes) {
  const auto dims = layer.shape().dims();
  layer.expect(dims.size() > 1,
               "expected x with an axis behind axis 0, got " + to_string(layer.shape()));
  layer.expect(axes >= 1 && static_cast<std::size_t>(axes) < dims.size(),
               "expected a number of axes from 1 to " + std::to_string(dims.size() - 1) +
                   ", the last ones of " + to_string(layer.shape()) + ", got " +
                   std::to_string(axes));
  return {dims.end() - axes, dims.end()};
}

const graph::Op& batch_norm_op(const BatchNormOptions& options) {
  if (!options.track_running_stats) return graph::untracked_batch_norm;
  return options.momentum ? graph::batch_norm : graph::cumulative_batch_norm;
}

/// Adds a batch norm of x, whose rank is from `least` to `most`.
Value batch_norm_of(ModelState& model, const std::string& name, const Value& x,
                    const BatchNormOptions& options, std::size_t least, std::size_t most) {
  Layer layer = model.layer(batch_norm_op(options), name, x);
  const std::size_t rank = layer.shape().rank();
  layer.expect(rank >= least && rank <= most,
               graph::rank_refusal("x of rank " + std::to_string(least) +
                                       (least < most ? " or " + std::to_string(most) : ""),
                                   to_string(layer.shape()), layer.shape()));
  const Dims channels{layer.shape()[1]};
  add_affine(layer, channels, options.affine);
  if (!options.affine) layer.filled(channels, 0);
  graph::Attributes attributes{{"eps", options.eps}};
  if (options.track_running_stats) {
    layer.buffer("running_mean", channels, zeros);
    layer.buffer("running_var", channels, ones);
    if (options.momentum)
      attributes.set("momentum", *options.momentum);
    else
      layer.buffer("num_batches_tracked", channels, zeros);
  }
  return model.finish(layer, std::move(attributes));
}

}  // namespace

Value Layers::group_norm(const std::string& name, Value x, std::int64_t groups, double eps,
                         bool affine) {
  return impl_->adding(graph::group_norm.name, name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::group_norm, name, x);
    layer.expect_rank_from(2);
    if (affine) add_affine(layer, {layer.shape()[1]}, true);
    return impl.finish(layer, {{"num_groups", groups}, {"eps", eps}});
  });
}

// The groups of an instance norm are the channels.
Value Layers::instance_norm(const std::string& name, Value x, double eps, bool affine) {
  return impl_->adding("instance_norm", name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::group_norm, name, x);
    layer.expect_rank_from(3);
    const std::int64_t channels = layer.shape()[1];
    layer.expect(layer.shape().elements() > channels,
                 "expected more than one element per channel of a sample, got x " +
                     to_string(layer.shape()));
    if (affine) add_affine(layer, {channels}, true);
    return impl.finish(layer, {{"num_groups", channels}, {"eps", eps}});
  });
}

Value Layers::layer_norm(const std::string& name, Value x, int axes, double eps, bool bias,
                         bool affine) {
  return impl_->adding(graph::layer_norm.name, name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::layer_norm, name, x);
    add_affine(layer, last_axes(layer, axes), affine, bias);
    return impl.finish(layer, {{"eps", eps}});
  });
}

Value Layers::rms_norm(const std::string& name, Value x, int axes, double eps, bool affine) {
  return impl_->adding(graph::rms_norm.name, name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::rms_norm, name, x);
    add_affine(layer, last_axes(layer, axes), affine, false);
    return impl.finish(layer, {{"eps", eps}});
  });
}

Value Layers::batch_norm1d(const std::string& name, Value x, const BatchNormOptions& options) {
  return impl_->adding("batch_norm1d", name,
                       [&](Impl& impl) { return batch_norm_of(impl, name, x, options, 2, 3); });
}

Value Layers::batch_norm2d(const std::string& name, Value x, const BatchNormOptions& options) {
  return impl_->adding("batch_norm2d", name,
                       [&](Impl& impl) { return batch_norm_of(impl, name, x, options, 4, 4); });
}

Value Layers::batch_norm3d(const std::string& name, Value x, const BatchNormOptions& options) {
  return impl_->adding("batch_norm3d", name,
                       [&](Impl& impl) { return batch_norm_of(impl, name, x, options, 5, 5); });
}

}  // namespace penstock
