// This program gives a trained network a new last layer for other classes, and keeps the layers
// before it as they are.
#include <cstring>
#include <iostream>
#include <penstock/penstock.hpp>
#include <string>
#include <vector>

using namespace penstock;

namespace {

Model network(const std::string& head, std::int64_t classes) {
  Model model("digits");
  Value x = model.flatten(model.input("image", {1, 28, 28}));
  const Value labels = model.labels();
  x = model.relu(model.linear("trunk", x, 32));
  model.loss(model.cross_entropy(model.linear(head, x, classes), labels));
  return model;
}

void copy_weights(const Model& from, Model& to, const std::string& layer) {
  for (const ParameterInfo& parameter : from.parameters())
    if (parameter.name.starts_with(layer + "."))
      to.set_weight(parameter.name, from.weight(parameter.name));
}

}  // namespace

int main() {
  network("ten_classes", 10).save_weights("trained.safetensors");

  Model trained = network("ten_classes", 10);
  trained.load_weights("trained.safetensors");
  Model model = network("twenty_classes", 20);
  copy_weights(trained, model, "trunk");

  Optimizer optimizer = AdamW{.learning_rate = 0.01};
  const AdamW frozen{.learning_rate = 0};
  optimizer.groups = {{.parameters = {"trunk.weight", "trunk.bias"}, .settings = frozen}};
  const Options options{.batch_size = 32};
  TrainingModel training(model, options, optimizer);
  DataLoader data(synthetic_digits(960, 0, {}), options, {.shuffle = true});
  const History history = fit(training, data, {.epochs = 2});

  const Tensor before = trained.weight("trunk.weight"), after = model.weight("trunk.weight");
  const bool kept = std::memcmp(before.raw(), after.raw(), before.bytes()) == 0;
  for (const EpochRecord& epoch : history.epochs)
    std::cout << "loss " << value_of(epoch.values, "loss") << '\n';
  std::cout << (kept ? "the trunk is as it was\n" : "the trunk has changed\n");
  return kept ? 0 : 1;
}
