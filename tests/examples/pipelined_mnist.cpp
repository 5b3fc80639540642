// This is the program of the pipelining tutorial: it builds a network of four blocks, sets its
// options one by one, trains it, and tests it on the same weights. Usage: pipelined_mnist
// [MNIST_DIRECTORY]; without files it trains on a few synthetic digits.
#include <cstring>
#include <iostream>
#include <penstock/penstock.hpp>

using namespace penstock;

Value convolution(Model& model, const char* name, Value x, std::int64_t channels) {
  x = model.conv2d(name, x, {.out_channels = channels, .kernel = 5});
  return model.relu(model.max_pool2d(x));
}

Model network() {
  Model model("mnist", 42);
  Value x = model.input("image", {1, 28, 28});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = convolution(model, "layer1", x, 10);
  }
  {
    const auto block = model.block("B2");
    x = convolution(model, "layer2", x, 20);
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

Options training_options(bool real) {
  Options options{.batch_size = 40, .device_iterations = real ? 10 : 2};
  options.training.gradient_accumulation = 10;
  options.topology.stages = {Stage{"B1"}.on(0), Stage{"B2"}.on(1), Stage{"B3"}.on(2),
                             Stage{"B4"}.on(3)};
  // The optimizer's state is in the host's memory between updates.
  options.training.offload.optimizer_state.on = true;
  // Without this mode, a step returns only the outputs of the last micro-batch.
  options.output.mode = OutputMode::all;
  return options;
}

/// Returns options for the same training with one micro-batch at a time, for debugging. That
/// training ends with the same bits.
Options sharded(Options options) {
  options.topology.strategy = Strategy::sharded;
  return options;
}

void train(TrainingModel& training, const std::shared_ptr<const Dataset>& digits, int epochs) {
  DataLoader loader(digits, training.options(), {.shuffle = true, .seed = 0});
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    for (const Batch& batch : loader) {
      const StepResult result = training.step(batch);
      const Score accurate = accuracy("logits").score(result, batch);
      std::cout << "epoch " << epoch << ": loss " << result.mean_loss << ", accuracy "
                << 100 * accurate.mean() << " %\n";
    }
  }
}

// H8 of docs/reference.md: this is the walkthrough, from the training to a test on the weights that
// the training ended with.
int main(int argc, char** argv) {
  const bool real = argc > 1;
  const Normalization pixels{.mean = 0.1307, .std = 0.3081};
  const auto digits = [&](Split split, std::int64_t count) {
    return real ? read_idx(argv[1], split, pixels)
                : synthetic_digits(count, split == Split::train ? 1 : 2, pixels);
  };
  const auto training_digits = digits(Split::train, 1600);
  const Options options = training_options(real);
  const int epochs = real ? 3 : 6;

  const Model model = network(), debugged = network();
  TrainingModel training(model, options, AdamW{.learning_rate = 0.001});
  train(training, training_digits, epochs);
  TrainingModel debugging(debugged, sharded(options), AdamW{.learning_rate = 0.001});
  train(debugging, training_digits, epochs);
  const Tensor one = model.weight("layer4.weight"), other = debugged.weight("layer4.weight");
  const bool same = std::memcmp(one.raw(), other.raw(), one.bytes()) == 0;
  std::cout << "sharded: " << (same ? "the same bits" : "other weights") << '\n';

  Options inference_options = options;  // Options are values, so a copy can be changed.
  inference_options.batch_size = 8;
  inference_options.device_iterations = 100;
  InferenceModel inference(model, inference_options);  // This model always has the newest weights.
  DataLoader test_loader(digits(Split::test, 1000), inference_options, {.drop_last = false});
  const Evaluation test = evaluate(inference, test_loader, {accuracy("logits")});
  std::cout << "test: accuracy " << 100 * test.values[0].value << " %\n";
  return same && test.values[0].value > 0.8 ? 0 : 1;
}
