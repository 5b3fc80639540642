#include "apps/networks/fashion_cnn.hpp"

namespace penstock::networks {
namespace {

Value layers(Model& model, Value x, std::int64_t classes) {
  x = model.relu(model.conv2d("conv1", x, {.out_channels = 5, .kernel = 3}));
  x = model.max_pool2d(x);  // The shape is [N,5,13,13].
  x = model.relu(model.conv2d("conv2", x, {.out_channels = 12, .kernel = 5}));
  x = model.group_norm("norm", x, 3);  // The shape is [N,12,9,9].
  x = model.relu(model.linear("fc1", model.flatten(x), 100));
  return model.linear("fc2", x, classes);
}

Value loss(Model& model, Value logits, Value labels) {
  return model.nll_loss(model.log_softmax(logits), labels);
}

constexpr BlockStart blocks[] = {
    {"conv1", "B1"}, {"conv2", "B2"}, {"flatten_1", "B3"}, {"fc2", "B4"}};

}  // namespace

const Network fashion_cnn{.name = "fashion-cnn",
                          .normalization = mnist_pixels,
                          .layers = layers,
                          .loss = loss,
                          .blocks = blocks};

}  // namespace penstock::networks
