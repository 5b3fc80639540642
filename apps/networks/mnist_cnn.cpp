#include "apps/networks/mnist_cnn.hpp"

#include <string>

namespace penstock::networks {
namespace {

/// Adds a convolution, a pooling and a ReLU.
Value convolution_layer(Model& model, const std::string& name, Value x, std::int64_t channels) {
  x = model.conv2d(name + ".conv", x, {.out_channels = channels, .kernel = 5});
  return model.relu(model.max_pool2d(x));
}

Value layers(Model& model, Value x, std::int64_t classes) {
  x = convolution_layer(model, "layer1", x, 10);  // The shape is [N,10,12,12].
  x = convolution_layer(model, "layer2", x, 20);  // The shape is [N,20,4,4].
  x = model.relu(model.linear("layer3", model.flatten(x), 256));
  return model.linear("layer4", x, classes);
}

constexpr BlockStart blocks[] = {
    {"layer1", "B1"}, {"layer2", "B2"}, {"flatten_1", "B3"}, {"layer4", "B4"}};

}  // namespace

const Network mnist_cnn{
    .name = "mnist-cnn", .normalization = mnist_pixels, .layers = layers, .blocks = blocks};

}  // namespace penstock::networks
