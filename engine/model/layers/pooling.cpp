// These are the poolings of Model.
#include "engine/model/layers/sizes.hpp"
#include "engine/model/model_state.hpp"
#include "graph/ops/convolution/avg_pool2d.hpp"
#include "graph/ops/convolution/max_pool2d.hpp"

namespace penstock {
namespace {

graph::Attributes window(const Pool2dOptions& options) {
  graph::Attributes attributes{{"kernel", pair(options.kernel)},
                               {"padding", pair(options.padding)}};
  if (options.stride != 0) attributes.set("stride", pair(options.stride));
  return attributes;
}

}  // namespace

Value Layers::max_pool2d(Value x, const Pool2dOptions& options) {
  return impl_->add(graph::max_pool2d, {x}, [&] { return window(options); });
}

Value Layers::avg_pool2d(Value x, const Pool2dOptions& options) {
  return impl_->add(graph::avg_pool2d, {x}, [&] { return window(options); });
}

Value Layers::global_avg_pool2d(Value x) {
  return impl_->add(graph::global_avg_pool2d, {x});
}

}  // namespace penstock
