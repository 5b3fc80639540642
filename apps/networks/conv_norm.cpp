#include "apps/networks/conv_norm.hpp"

namespace penstock::networks {

Value conv_norm(Model& model, const std::string& convolution, const std::string& norm, Value x,
                Conv2dOptions options) {
  options.bias = false;
  x = model.conv2d(convolution, x, options);
  model.initialize(convolution + ".weight", Initializer::kaiming_normal(0, Fan::out));
  return model.batch_norm2d(norm, x);
}

}  // namespace penstock::networks
