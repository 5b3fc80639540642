#include "apps/networks/cifar_cnn.hpp"

#include <string>

namespace penstock::networks {
namespace {

/// Adds a convolution, a ReLU and a pooling, which halves the height and the width of the image.
Value convolution_layer(Model& model, const std::string& name, Value x, std::int64_t channels) {
  x = model.conv2d(name, x, {.out_channels = channels, .kernel = 3, .padding = 1});
  return model.max_pool2d(model.relu(x));
}

Model build(std::uint64_t seed) {
  Model model("cifar-cnn", seed);
  Value x = model.input("image", {3, 32, 32});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = convolution_layer(model, "conv1", x, 16);  // The shape is [N,16,16,16].
  }
  {
    const auto block = model.block("B2");
    x = convolution_layer(model, "conv2", x, 32);  // The shape is [N,32,8,8].
  }
  {
    const auto block = model.block("B3");
    x = convolution_layer(model, "conv3", x, 64);  // The shape is [N,64,4,4].
  }
  const auto block = model.block("B4");
  x = model.linear("fc", model.flatten(x), 10);
  model.output("logits", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

}  // namespace

// The normalization has the mean and the standard deviation of the training images' pixels, taken
// over all channels together.
const Network cifar_cnn{.name = "cifar-cnn",
                        .channels = 3,
                        .size = 32,
                        .normalization = {.mean = 0.4734, .std = 0.2516},
                        .build = build};

}  // namespace penstock::networks
