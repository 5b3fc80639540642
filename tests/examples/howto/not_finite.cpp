// This program trains a network that takes the logarithm of a number that may become negative, and
// is told which layer has made the first number that is none.
#include <iostream>
#include <penstock/penstock.hpp>
#include <span>
#include <string>
#include <vector>

using namespace penstock;

int main() {
  Model model("logarithm");
  const Value scaled = model.linear("scale", model.input("x", {1}), 1, false);
  model.loss(model.identity_loss(model.log(scaled)));
  model.set_weight("scale.weight", Tensor({1, 1}, {1}));

  std::vector<float> x(64, 1);
  x[41] = -1;
  const Options options{.batch_size = 8};
  TrainingModel training(model, options, Sgd{.learning_rate = 0.01});
  DataLoader data(tensor_dataset({Tensor({64, 1}, std::span<const float>(x))}), options);
  std::string text;
  try {
    fit(training, data, {.callbacks = {stop_when_not_finite()}});
  } catch (const Error& error) {
    text = error.what();
  }
  std::cout << text << '\n';
  return text.find("the first output that is not finite is that of log") != text.npos ? 0 : 1;
}
