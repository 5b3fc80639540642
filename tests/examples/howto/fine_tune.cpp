// This program gives a trained network a new last layer for other classes, and trains that layer
// alone. All layers before it are frozen.
#include <cstring>
#include <iostream>
#include <penstock/penstock.hpp>

using namespace penstock;

namespace {

Model network(std::int64_t classes, std::uint64_t seed) {
  Model model("digits", seed);
  Value x = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  x = model.conv2d("body.conv", x, {.out_channels = 8, .kernel = 5, .stride = 2});
  x = model.relu(model.batch_norm2d("body.norm", x));
  model.loss(model.cross_entropy(model.linear("head", model.flatten(x), classes), labels));
  return model;
}

bool is_same(const Tensor& a, const Tensor& b) {
  return std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

}  // namespace

int main() {
  const Model trained = network(20, 1);
  trained.save_weights("trained.safetensors");

  // The head of the file has other classes, and is left out.
  Model model = network(10, 2);
  const LoadedWeights weights =
      model.load_weights("trained.safetensors", {.parameters = {"body.*"}});
  model.freeze("body.*");
  model.freeze_statistics("body.*");

  const Options options{.batch_size = 32};
  TrainingModel training(model, options, AdamW{.learning_rate = 0.01});
  DataLoader data(synthetic_digits(960, 0, {}), options, {.shuffle = true});
  const History history = fit(training, data, {.epochs = 2});

  for (const std::string& name : weights.loaded)
    if (!is_same(model.weight(name), trained.weight(name))) return 1;
  for (const EpochRecord& epoch : history.epochs)
    std::cout << "loss " << value_of(epoch.values, "loss") << '\n';
  std::cout << weights.loaded.size() << " tensors of the body are as they were\n";
  return weights.loaded.size() == 6 ? 0 : 1;
}
