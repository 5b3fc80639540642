#include "apps/networks/fashion_cnn.hpp"

namespace penstock::networks {
namespace {

Model build(std::uint64_t seed) {
  Model model("fashion-cnn", seed);
  Value x = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = model.relu(model.conv2d("conv1", x, {.out_channels = 5, .kernel = 3}));
    x = model.max_pool2d(x);  // The shape is [N,5,13,13].
  }
  {
    const auto block = model.block("B2");
    x = model.relu(model.conv2d("conv2", x, {.out_channels = 12, .kernel = 5}));
    x = model.group_norm("norm", x, 3);  // The shape is [N,12,9,9].
  }
  {
    const auto block = model.block("B3");
    x = model.relu(model.linear("fc1", model.flatten(x), 100));
  }
  const auto block = model.block("B4");
  x = model.linear("fc2", x, 10);
  model.output("logits", x);
  model.loss(model.nll_loss(model.log_softmax(x), labels));
  return model;
}

}  // namespace

const Network fashion_cnn{
    .name = "fashion-cnn", .normalization = {.mean = 0.1307, .std = 0.3081}, .build = build};

}  // namespace penstock::networks
