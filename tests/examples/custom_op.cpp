// This program gives the engine an op of its own, the soft length sqrt(1 + |x|²) of each row, and
// trains a network in which that op follows a layer of the engine's, in two stages.
#include <cmath>
#include <iostream>
#include <penstock/penstock.hpp>
#include <random>
#include <stdexcept>
#include <vector>

using namespace penstock;

/// Maps rows [N,K] to [N,1].
Shape length_shape(std::span<const Shape> inputs) {
  if (inputs.size() != 1 || inputs[0].rank() != 2)
    throw std::invalid_argument("expected one input [N,K]");
  return {inputs[0][0], 1};
}

/// Computes sqrt(1 + the sum of the squares of a row).
void lengths(std::span<const OpInput> inputs, const OpOutput& output) {
  const std::size_t width = inputs[0].values.size() / output.values.size();
  for (std::size_t row = 0; row < output.values.size(); ++row) {
    float sum = 1;
    for (const float x : inputs[0].values.subspan(row * width, width)) sum += x * x;
    output.values[row] = std::sqrt(sum);
  }
}

/// The gradient of x is that of its row's length, times x divided by the length.
void length_gradients(std::span<const OpInput> inputs, const OpInput& output,
                      const OpInput& gradient, std::span<const OpOutput> input_gradients) {
  const std::size_t width = inputs[0].values.size() / output.values.size();
  for (std::size_t i = 0; i < input_gradients[0].values.size(); ++i)
    input_gradients[0].values[i] =
        gradient.values[i / width] * inputs[0].values[i] / output.values[i / width];
}

int main() {
  register_op({"soft_length", length_shape, lengths, length_gradients});

  Model model("lengths", 1);
  model.begin_block("turn", 0);
  const Value x = model.input("x", {4}), target = model.input("target", {1});
  const Value turned = model.linear("turn", x, 3);
  model.begin_block("measure", 1);
  const Value length = model.custom("soft_length", {turned});
  const Value loss = model.mse_loss(length, target);
  model.output("loss", loss);
  model.loss(loss);

  // The samples are measured by a matrix that the network has to find, up to a rotation.
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> points, measured;
  for (int sample = 0; sample < 512; ++sample) {
    float p[4];
    for (float& coordinate : p) points.push_back(coordinate = normal(random));
    const float a = p[0] + p[1], b = 2 * p[2], c = p[3] - p[1];
    measured.push_back(std::sqrt(1 + a * a + b * b + c * c));
  }

  Options options{.batch_size = 16};
  options.topology.ipus = {0, 1};
  TrainingModel training(model, options, Adam{.learning_rate = 0.01});
  DataLoader data(tensor_dataset({Tensor({512, 4}, points), Tensor({512, 1}, measured)}), options);
  const History history = fit(training, data, {.epochs = 60});
  const double error = std::sqrt(value_of(history.epochs.back().values, "loss"));
  std::cout << "the lengths are off by " << error << " on average\n";
  return error < 0.1 ? 0 : 1;
}
