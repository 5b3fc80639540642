// This program trains the weights of a network with one rule, and its biases and the parameters of
// its norm with another one.
#include <iostream>
#include <penstock/penstock.hpp>
#include <string>
#include <vector>

using namespace penstock;

namespace {

Model network() {
  Model model("digits");
  Value x = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  x = model.conv2d("conv", x, {.out_channels = 8, .kernel = 5, .stride = 2});
  x = model.flatten(model.relu(model.batch_norm2d("norm", x)));
  model.loss(model.cross_entropy(model.linear("out", x, 10), labels));
  return model;
}

}  // namespace

int main() {
  const Model model = network();
  Optimizer optimizer = AdamW{.learning_rate = 0.002};
  std::vector<std::string> vectors;
  for (const ParameterInfo& info : model.parameters())
    if (info.trainable && info.shape.rank() == 1) vectors.push_back(info.name);
  optimizer.groups = {{.parameters = vectors, .settings = Sgd{.learning_rate = 0.05}}};

  const Options options{.batch_size = 32};
  TrainingModel training(model, options, optimizer);
  DataLoader data(synthetic_digits(960, 0, {}), options, {.shuffle = true});
  const History history = fit(training, data, {.epochs = 2});
  for (const NamedTensor& state : training.optimizer_state()) std::cout << state.name << '\n';
  return value_of(history.epochs[1].values, "loss") < value_of(history.epochs[0].values, "loss")
             ? 0
             : 1;
}
