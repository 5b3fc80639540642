// These are the normalizations of Model. Their weights start at 1, their biases at 0.
#include "engine/model/model_state.hpp"
#include "graph/ops/norms/batch_norm.hpp"
#include "graph/ops/norms/group_norm.hpp"
#include "graph/ops/norms/layer_norm.hpp"

namespace penstock {
namespace {

constexpr Initializer zeros{.center = 0};
constexpr Initializer ones{.center = 1};

}  // namespace

Value Layers::group_norm(const std::string& name, Value x, std::int64_t groups, double eps) {
  return impl_->calling(graph::group_norm.name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::group_norm, name, x);
    layer.expect_rank_from(2);
    layer.parameter("weight", {layer.shape()[1]}, ones);
    layer.parameter("bias", {layer.shape()[1]}, zeros);
    return impl.finish(layer, {{"num_groups", groups}, {"eps", eps}});
  });
}

Value Layers::layer_norm(const std::string& name, Value x, int axes, double eps, bool bias) {
  return impl_->calling(graph::layer_norm.name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::layer_norm, name, x);
    const auto dims = layer.shape().dims();
    layer.expect(axes >= 1 && static_cast<std::size_t>(axes) < dims.size(),
                 "expected the last 1 to " + std::to_string(dims.size() - 1) + " axes of " +
                     to_string(layer.shape()) + ", got " + std::to_string(axes));
    const std::vector<std::int64_t> last(dims.end() - axes, dims.end());
    layer.parameter("weight", last, ones);
    if (bias) layer.parameter("bias", last, zeros);
    return impl.finish(layer, {{"eps", eps}});
  });
}

Value Layers::batch_norm2d(const std::string& name, Value x, double eps, double momentum) {
  return impl_->calling(graph::batch_norm.name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::batch_norm, name, x);
    layer.expect_rank(4);
    const std::int64_t channels = layer.shape()[1];
    layer.parameter("weight", {channels}, ones);
    layer.parameter("bias", {channels}, zeros);
    layer.buffer("running_mean", {channels}, zeros);
    layer.buffer("running_var", {channels}, ones);
    return impl.finish(layer, {{"eps", eps}, {"momentum", momentum}});
  });
}

}  // namespace penstock
