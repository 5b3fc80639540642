// This program trains a network that another library has written to a file in the ONNX format, in
// two stages. The file is the program's argument.
#include <iostream>
#include <penstock/penstock.hpp>
#include <string>

using namespace penstock;

int main(int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : "network.onnx";
  Model model = Model::from_onnx(file);
  model.begin_block_at("conv2", "second", 1);
  const Value labels = model.labels();
  model.loss(model.cross_entropy(model.output("scores"), labels));
  Options options{.batch_size = 8};
  options.training.gradient_accumulation = 2;
  TrainingModel training(model, options, Sgd{.learning_rate = 0.05});
  DataLoader data(synthetic_digits(640, 0, {}), options);
  const History history = fit(training, data, {.epochs = 2});
  for (const EpochRecord& epoch : history.epochs)
    std::cout << "epoch " << epoch.epoch << ": loss " << value_of(epoch.values, "loss") << '\n';
  model.save_weights("network.safetensors");
  return history.epochs.size() == 2 ? 0 : 1;
}
