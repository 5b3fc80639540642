// These are the dropouts of Model.
#include "graph/ops/activations/dropout.hpp"

#include "engine/model/model_state.hpp"

namespace penstock {
namespace {

constexpr std::int64_t yes = 1;

/// Adds a dropout of whole channels to x, which has `rank` axes.
Value dropout_of_channels(ModelState& model, const std::string& name, const Value& x,
                          std::size_t rank, double probability) {
  Layer layer = model.layer(graph::dropout, name, x);
  layer.expect_rank(rank);
  return model.finish(layer, {{"p", probability}, {"channels", yes}});
}

}  // namespace

Value Layers::dropout(const std::string& name, Value x, double probability) {
  return impl_->adding(graph::dropout.name, name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::dropout, name, x);
    return impl.finish(layer, {{"p", probability}});
  });
}

Value Layers::dropout1d(const std::string& name, Value x, double probability) {
  return impl_->adding("dropout1d", name, [&](Impl& impl) {
    return dropout_of_channels(impl, name, x, 3, probability);
  });
}

Value Layers::dropout2d(const std::string& name, Value x, double probability) {
  return impl_->adding("dropout2d", name, [&](Impl& impl) {
    return dropout_of_channels(impl, name, x, 4, probability);
  });
}

Value Layers::dropout3d(const std::string& name, Value x, double probability) {
  return impl_->adding("dropout3d", name, [&](Impl& impl) {
    return dropout_of_channels(impl, name, x, 5, probability);
  });
}

Value Layers::alpha_dropout(const std::string& name, Value x, double probability) {
  return impl_->adding("alpha_dropout", name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::dropout, name, x);
    return impl.finish(layer, {{"p", probability}, {"alpha", yes}});
  });
}

Value Layers::feature_alpha_dropout(const std::string& name, Value x, double probability) {
  return impl_->adding("feature_alpha_dropout", name, [&](Impl& impl) {
    Layer layer = impl.layer(graph::dropout, name, x);
    return impl.finish(layer, {{"p", probability}, {"channels", yes}, {"alpha", yes}});
  });
}

}  // namespace penstock
