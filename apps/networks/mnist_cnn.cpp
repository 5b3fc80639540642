#include "apps/networks/mnist_cnn.hpp"

#include <string>

namespace penstock::networks {
namespace {

/// Adds a convolution, a pooling and a ReLU.
Value convolution_layer(Model& model, const std::string& name, Value x, std::int64_t channels) {
  x = model.conv2d(name + ".conv", x, {.out_channels = channels, .kernel = 5});
  return model.relu(model.max_pool2d(x));
}

Model build(std::uint64_t seed) {
  Model model("mnist-cnn", seed);
  Value x = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = convolution_layer(model, "layer1", x, 10);  // The shape is [N,10,12,12].
  }
  {
    const auto block = model.block("B2");
    x = convolution_layer(model, "layer2", x, 20);  // The shape is [N,20,4,4].
  }
  {
    const auto block = model.block("B3");
    x = model.relu(model.linear("layer3", model.flatten(x), 256));
  }
  const auto block = model.block("B4");
  x = model.linear("layer4", x, 10);
  model.output("logits", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

}  // namespace

const Network mnist_cnn{
    .name = "mnist-cnn", .normalization = {.mean = 0.1307, .std = 0.3081}, .build = build};

}  // namespace penstock::networks
