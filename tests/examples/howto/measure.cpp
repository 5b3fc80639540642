// This program learns to find the few samples of a rare class, where the accuracy says little, and
// measures what the model makes of samples that it has not seen.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <penstock/penstock.hpp>
#include <random>
#include <span>
#include <vector>

using namespace penstock;

namespace {

struct Samples {
  Tensor points, labels;
};

// One sample in ten is rare: its point is near (1, 1) instead of (0, 0).
Samples rare_samples(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> noise(0, 0.4f);
  std::vector<float> points;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t label = i % 10 == 0;
    for (int axis = 0; axis < 2; ++axis)
      points.push_back(static_cast<float>(label) + noise(random));
    labels.push_back(label);
  }
  return {Tensor({count, 2}, std::span<const float>(points)),
          Tensor({count}, std::span<const std::int64_t>(labels))};
}

Model network() {
  Model model("rare");
  const Value x = model.tanh(model.linear("hidden", model.input("point", {2}), 16));
  const Value scores = model.linear("out", x, 2);
  model.output("scores", scores);
  model.loss(model.cross_entropy(scores, model.labels()));
  return model;
}

// A LargestScore is a metric of the host's own that is no mean: the largest score of all samples.
class LargestScore : public MetricState {
 public:
  void add(const StepResult& result, const Batch&) override {
    for (const float score : result.output("scores").as<float>()) most_ = std::fmax(most_, score);
  }
  void merge(const MetricState& other) override {
    most_ = std::fmax(most_, static_cast<const LargestScore&>(other).most_);
  }
  double value() const override { return most_; }

 private:
  float most_ = -INFINITY;
};

}  // namespace

int main() {
  const Model model = network();
  const Options options{.batch_size = 20};
  TrainingModel training(model, options, AdamW{.learning_rate = 0.02});
  const Samples seen = rare_samples(2000, 1), unseen = rare_samples(1000, 2);
  DataLoader data(tensor_dataset({seen.points, seen.labels}), options, {.shuffle = true});
  fit(training, data, {.epochs = 5});

  InferenceModel validation(model, options);
  DataLoader others(tensor_dataset({unseen.points, unseen.labels}), 100, {.drop_last = false});
  const ClassificationOptions rare{.average = Average::binary, .positive_class = 1};
  const Evaluation measured = evaluate(validation, others,
                                       {precision("scores", rare), recall("scores", rare),
                                        f1_score("scores", rare), roc_auc("scores")});
  for (const auto& [name, value] : measured.values) std::cout << name << ' ' << value << '\n';

  ConfusionMatrix matrix;
  matrix.add(predict(validation, {unseen.points})[0].tensor, unseen.labels);
  std::cout << matrix.count(1, 0) << " of " << matrix.count(1, 0) + matrix.count(1, 1)
            << " rare samples were not found\n";

  const Metric largest{.name = "largest", .start = [] { return std::make_unique<LargestScore>(); }};
  const double most = value_of(evaluate(validation, others, {largest}).values, "largest");
  return value_of(measured.values, "f1_score") == matrix.f1_score(rare) &&
                 value_of(measured.values, "roc_auc") > 0.9 && std::isfinite(most)
             ? 0
             : 1;
}
