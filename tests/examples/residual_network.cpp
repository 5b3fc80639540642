// One line of this program cuts a finished residual network in two: the fourth group of layers
// begins a block on IPU 1. The program trains the network in two replicas. Usage: residual_network
// [CIFAR10_DIRECTORY [EPOCHS]]; without files it trains on a few made-up images.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <penstock/penstock.hpp>
#include <string>

using namespace penstock;

/// Returns the output of two convolutions with their input added. With a `stride` of more than 1, a
/// third convolution brings the input to the size of the output.
Value residual(Model& model, const std::string& name, Value x, std::int64_t channels,
               std::int64_t stride) {
  const auto conv = [&](const std::string& layer, Value in, Conv2dOptions options) {
    options.out_channels = channels;
    options.bias = false;
    return model.batch_norm2d(name + layer + ".norm", model.conv2d(name + layer, in, options));
  };
  Value y = model.relu(conv(".conv1", x, {.kernel = 3, .stride = stride, .padding = 1}));
  y = conv(".conv2", y, {.kernel = 3, .padding = 1});
  if (stride > 1) x = conv(".shortcut", x, {.kernel = 1, .stride = stride});
  return model.relu(model.add(x, y));
}

/// Returns a network that classifies images [3,32,32] into ten classes. No line of it names an IPU.
Model residual_network() {
  Model model("residual network", 1);
  Value x = model.input("image", {3, 32, 32});
  const Value labels = model.labels();
  x = model.conv2d("stem", x, {.out_channels = 8, .kernel = 3, .padding = 1, .bias = false});
  x = model.relu(model.batch_norm2d("stem.norm", x));
  x = residual(model, "layer1", x, 8, 1);
  x = residual(model, "layer2", x, 16, 2);
  x = residual(model, "layer3", x, 32, 2);
  x = residual(model, "layer4", x, 64, 2);
  x = model.linear("fc", model.flatten(model.global_avg_pool2d(x)), 10);
  model.output("logits", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

std::shared_ptr<const Dataset> made_up_images(std::int64_t count) {
  std::vector<float> pixels(static_cast<std::size_t>(count) * 3 * 32 * 32);
  std::vector<std::int64_t> labels;
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = std::sin(static_cast<float>(i % 3001) + static_cast<float>(i / 3072 % 10));
  for (std::int64_t i = 0; i < count; ++i) labels.push_back(i % 10);
  return tensor_dataset({Tensor({count, 3, 32, 32}, pixels), Tensor({count}, labels)});
}

/// Returns whether A15 of docs/reference.md holds: each of two replicas had two stages, on IPUs 0
/// to 3 in all, each stage had three micro-batches for each update, and the compiler warned that
/// each replica has statistics of batch norm of its own.
bool worked_as_asked(const TrainingModel& training, std::uint64_t updates) {
  const std::vector<StageReport> stages = training.stage_reports();
  bool as_asked = stages.size() == 4;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageReport& stage = stages[i];
    std::cout << "replica " << stage.replica << ", IPU " << stage.ipu << ": " << stage.backward_runs
              << " micro-batches\n";
    const auto number = static_cast<int>(i);
    as_asked = as_asked && stage.replica == number / 2 && stage.stage == number % 2 &&
               stage.ipu == number && stage.backward_runs == 3 * updates;
  }
  const auto& warnings = training.compile_report().warnings;
  return as_asked && std::any_of(warnings.begin(), warnings.end(), [](const std::string& text) {
           return text.starts_with("batch norm");
         });
}

int main(int argc, char** argv) {
  Model model = residual_network();
  model.begin_block_at("layer4", "layer4 to the loss", 1);  // The earlier layers stay on IPU 0.
  std::cout << to_string(model.stage_assignment());

  Options options{.batch_size = 8};
  options.training.gradient_accumulation = 3;
  options.topology.replication_factor = 2;
  TrainingModel training(model, options, Sgd{.learning_rate = 0.01, .momentum = 0.9});
  std::cout << to_string(training.compile_report());

  DataLoader data(argc > 1 ? read_cifar10(argv[1], Split::train) : made_up_images(101), options,
                  {.shuffle = true, .seed = 1});
  const History history = fit(training, data, {.epochs = argc > 2 ? std::stoi(argv[2]) : 2});
  for (const EpochRecord& epoch : history.epochs)
    std::cout << "epoch " << epoch.epoch << ": " << epoch.steps << " updates, loss "
              << value_of(epoch.values, "loss") << '\n';
  return std::isfinite(value_of(history.epochs.back().values, "loss")) &&
                 worked_as_asked(training, history.updates)
             ? 0
             : 1;
}
