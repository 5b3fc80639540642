#include "apps/networks/cifar_cnn.hpp"

#include <string>

namespace penstock::networks {
namespace {

/// Adds a convolution, a ReLU and a pooling, which halves the height and the width of the image.
Value convolution_layer(Model& model, const std::string& name, Value x, std::int64_t channels) {
  x = model.conv2d(name, x, {.out_channels = channels, .kernel = 3, .padding = 1});
  return model.max_pool2d(model.relu(x));
}

Value layers(Model& model, Value x, std::int64_t classes) {
  x = convolution_layer(model, "conv1", x, 16);  // The shape is [N,16,16,16].
  x = convolution_layer(model, "conv2", x, 32);  // The shape is [N,32,8,8].
  x = convolution_layer(model, "conv3", x, 64);  // The shape is [N,64,4,4].
  return model.linear("fc", model.flatten(x), classes);
}

constexpr BlockStart blocks[] = {
    {"conv1", "B1"}, {"conv2", "B2"}, {"conv3", "B3"}, {"flatten_1", "B4"}};

}  // namespace

const Network cifar_cnn{.name = "cifar-cnn",
                        .images = cifar10_images,
                        .normalization = cifar10_pixels,
                        .layers = layers,
                        .blocks = blocks};

}  // namespace penstock::networks
