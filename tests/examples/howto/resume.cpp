// This program interrupts a training and resumes it from its files. The training ends with the same
// bits as a training without an interruption.
#include <cstring>
#include <iostream>
#include <penstock/penstock.hpp>

using namespace penstock;

namespace {

Model network() {
  Model model("digits");
  Value x = model.flatten(model.input("image", {1, 28, 28}));
  const Value labels = model.labels();
  x = model.dropout("drop", model.relu(model.linear("hidden", x, 32)), 0.1);
  model.loss(model.cross_entropy(model.linear("out", x, 10), labels));
  return model;
}

const Options options{.batch_size = 32};
const AdamW optimizer{.learning_rate = 0.002};

DataLoader images() {
  return DataLoader(synthetic_digits(960, 0, {}), options, {.shuffle = true, .seed = 7});
}

void train_two_epochs_and_save() {
  Model model = network();
  TrainingModel training(model, options, optimizer);
  DataLoader data = images();
  fit(training, data, {.epochs = 2});
  model.save_weights("run.safetensors");
  training.save_optimizer_state("run.optimizer.safetensors");
}

Model train_two_more_epochs() {
  Model model = network();
  model.load_weights("run.safetensors");
  TrainingModel training(model, options, optimizer);
  training.load_optimizer_state("run.optimizer.safetensors");
  DataLoader data = images();
  data.skip_epochs(2);  // The first training has used the orders of these epochs.
  fit(training, data, {.epochs = 2});
  return model;
}

}  // namespace

int main() {
  train_two_epochs_and_save();
  const Tensor resumed = train_two_more_epochs().weight("out.weight");

  const Model model = network();
  TrainingModel training(model, options, optimizer);
  DataLoader data = images();
  fit(training, data, {.epochs = 4});
  const Tensor expected = model.weight("out.weight");
  const bool same = std::memcmp(resumed.raw(), expected.raw(), expected.bytes()) == 0;
  std::cout << (same ? "the same bits as without the interruption\n" : "other bits\n");
  return same ? 0 : 1;
}
