// These tests check the accuracy of what two replicas return under output modes that select
// micro-batches.
#include <gtest/gtest.h>

#include <vector>

#include "penstock/fit.hpp"

namespace penstock {
namespace {

/// A Scored has a model whose scores are its inputs. They predict class 1 for samples 3 and 7, and
/// class 0 for all others. A call has four micro-batches of one sample in each of two replicas.
struct Scored {
  Model model{"scored"};
  Options options{.batch_size = 1, .topology = {.replication_factor = 2}};

  Scored() {
    const Value y = model.linear("fc", model.input("x", {2}), 2, false);
    model.output("y", y);
    model.loss(model.cross_entropy(y, model.labels()));
    model.set_weight("fc.weight", Tensor({2, 2}, {1, 0, 0, 1}));
  }

  DataLoader data(const std::vector<std::int64_t>& labels) const {
    const Tensor x({8, 2}, {1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1});
    return {tensor_dataset({x, Tensor(Shape{8}, std::span<const std::int64_t>(labels))}),
            8,
            {.mode = LoaderMode::sync, .workers = 0}};
  }

  /// Returns the accuracy in training, followed by the accuracy in inference.
  std::vector<double> accuracies(const std::vector<std::int64_t>& labels) const {
    Options training = options, inference = options;
    training.training.gradient_accumulation = 4;
    inference.device_iterations = 4;
    TrainingModel trained(model, training, Sgd{.learning_rate = 0});
    InferenceModel evaluated(model, inference);
    DataLoader all = data(labels);
    const History history =
        fit(trained, all,
            {.metrics = {accuracy("y")}, .validation_model = &evaluated, .validation_data = &all});
    return {value_of(history.epochs[0].values, "accuracy"),
            value_of(history.epochs[0].values, "val_accuracy")};
  }
};

TEST(SelectedAccuracy, F16_OfEverySecondMicroBatchIsThatOfBothReplicas) {
  Scored scored;
  scored.options.output = {.mode = OutputMode::every_n, .period = 2};
  EXPECT_EQ(scored.accuracies({1, 1, 0, 1, 1, 1, 0, 1}), (std::vector<double>{1, 1}));
  EXPECT_EQ(scored.accuracies({0, 0, 0, 0, 0, 0, 1, 1}), (std::vector<double>{0.5, 0.5}));
}

TEST(SelectedAccuracy, F16_OfTheLastMicroBatchIsThatOfBothReplicas) {
  Scored scored;
  scored.options.output.mode = OutputMode::final;
  EXPECT_EQ(scored.accuracies({1, 1, 1, 0, 1, 1, 0, 1}), (std::vector<double>{1, 1}));
  EXPECT_EQ(scored.accuracies({0, 0, 0, 1, 0, 0, 0, 0}), (std::vector<double>{0.5, 0.5}));
}

}  // namespace
}  // namespace penstock
