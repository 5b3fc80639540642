// This program learns to tell the points of two spirals apart, until the loss on other samples gets
// no better. The model keeps the weights of the best epoch.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <penstock/penstock.hpp>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace penstock;

namespace {

struct Samples {
  Tensor points, labels;
};

Samples spirals(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, 0.1f);
  std::vector<float> points;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t label = i % 2;
    const float radius = static_cast<float>(i) / static_cast<float>(count);
    const float angle = 5 * radius + (label == 0 ? 0.0f : 3.14159f);
    points.push_back(radius * std::cos(angle) + noise(random));
    points.push_back(radius * std::sin(angle) + noise(random));
    labels.push_back(label);
  }
  return {Tensor({count, 2}, std::span<const float>(points)),
          Tensor({count}, std::span<const std::int64_t>(labels))};
}

Model network() {
  Model model("spirals");
  Value x = model.input("point", {2});
  const Value labels = model.labels();
  for (const char* name : {"hidden_1", "hidden_2"}) x = model.tanh(model.linear(name, x, 24));
  x = model.linear("out", x, 2);
  const Value loss = model.cross_entropy(x, labels);
  model.output("scores", x);
  model.output("loss", loss);  // An evaluation can measure the loss only if it is an output.
  model.loss(loss);
  return model;
}

// Returns the smallest value called `name` of all epochs in `history`.
double smallest(const History& history, const std::string& name) {
  double result = std::numeric_limits<double>::infinity();
  for (const EpochRecord& epoch : history.epochs)
    result = std::min(result, value_of(epoch.values, name));
  return result;
}

}  // namespace

int main() {
  const Model model = network();
  const Samples seen = spirals(1000, 1), unseen = spirals(303, 2);
  const Options options{.batch_size = 20};
  const Optimizer optimizer = AdamW{.learning_rate = 0.01};
  TrainingModel training(model, options, optimizer);
  InferenceModel validation(model, options);
  DataLoader data(tensor_dataset({seen.points, seen.labels}), options, {.shuffle = true});
  DataLoader others(tensor_dataset({unseen.points, unseen.labels}), 20, {.drop_last = false});
  const std::vector<Metric> metrics{mean_of("loss"), accuracy("scores")};
  const History history =
      fit(training, data,
          {.epochs = 100,
           .metrics = metrics,
           .validation_model = &validation,
           .validation_data = &others,
           .callbacks = {early_stopping({.patience = 5, .restore_best_weights = true})}});
  const Evaluation best = evaluate(validation, others, metrics);
  std::cout << history.epochs.size() << " epochs; of the best, val_loss "
            << value_of(best.values, "loss") << ", accuracy " << value_of(best.values, "accuracy")
            << " over " << best.samples << " samples\n";
  return best.samples == 303 && value_of(best.values, "loss") == smallest(history, "val_loss") &&
                 value_of(best.values, "accuracy") > 0.9
             ? 0
             : 1;
}
