// This program trains a small network on Fashion-MNIST from the directory that is given, or else on
// a few synthetic digits.
#include <iostream>
#include <penstock/penstock.hpp>

using namespace penstock;

int main(int argc, char** argv) {
  Model model("fashion", 1);
  Value x = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  x = model.max_pool2d(model.relu(model.conv2d("conv1", x, {.out_channels = 5, .kernel = 3})));
  x = model.relu(model.conv2d("conv2", x, {.out_channels = 12, .kernel = 5}));
  x = model.group_norm("norm", x, 3);
  x = model.relu(model.linear("fc1", model.flatten(x), 100));
  x = model.linear("fc2", x, 10);
  model.output("logits", x);
  model.loss(model.cross_entropy(x, labels));

  Options options{.batch_size = 16};
  TrainingModel training(model, options, Sgd{.learning_rate = 0.01, .momentum = 0.9});
  const Normalization pixels{.mean = 0.5, .std = 0.5};
  const auto images =
      argc > 1 ? read_idx(argv[1], Split::train, pixels) : synthetic_digits(1600, 1, pixels);
  DataLoader loader(images, options, {.shuffle = true});
  for (int epoch = 1; epoch <= 3; ++epoch) {
    double loss = 0;
    for (const Batch& batch : loader) loss = training.step(batch).mean_loss;
    std::cout << "epoch " << epoch << ": loss " << loss << '\n';
  }
}
