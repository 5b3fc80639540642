// These tests check that StepResult::mean_loss is the mean over all samples of a step, whatever the
// output mode returns.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/small_models.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t classes = 4;

/// Returns a model with a linear layer in one block and the loss in another.
Model classifier(LossReduction reduction) {
  Model model("classifier", 5);
  Value x = model.input("x", {4});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = model.linear("fc", x, classes);
  }
  const auto block = model.block("B2");
  model.output("y", x);
  model.loss(model.cross_entropy(x, labels, {.reduction = reduction}));
  return model;
}

/// Returns the loss of each sample in double: minus the logarithm of the softmax at its label.
std::vector<double> losses_by_hand(const Tensor& scores, const Tensor& labels) {
  const auto score = scores.as<float>();
  const auto label = labels.as<std::int64_t>();
  std::vector<double> losses;
  for (std::size_t row = 0; row < label.size(); ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) sum += std::exp(double{score[row * classes + k]});
    losses.push_back(std::log(sum) -
                     double{score[row * classes + static_cast<std::size_t>(label[row])]});
  }
  return losses;
}

double mean(const std::vector<double>& losses) {
  double sum = 0;
  for (const double loss : losses) sum += loss;
  return sum / static_cast<double>(losses.size());
}

/// Returns the mean over samples, where each sample counts with the sum of its micro-batch's
/// losses.
double mean_of_sums(const std::vector<double>& losses, std::size_t batch) {
  std::vector<double> of_samples;
  for (std::size_t begin = 0; begin < losses.size(); begin += batch) {
    const std::vector<double> part(losses.begin() + static_cast<std::ptrdiff_t>(begin),
                                   losses.begin() + static_cast<std::ptrdiff_t>(begin + batch));
    of_samples.insert(of_samples.end(), batch, mean(part) * static_cast<double>(batch));
  }
  return mean(of_samples);
}

/// Returns options for micro-batches of four samples, with a G of two, a D of three and two
/// replicas. A step has 48 samples.
Options replicated(OutputMode mode) {
  Options options = options_for(4, 2, 3);
  options.topology.replication_factor = 2;
  options.output = {.mode = mode, .period = 2};
  return options;
}

constexpr OutputMode modes[] = {OutputMode::automatic, OutputMode::final, OutputMode::every_n,
                                OutputMode::all, OutputMode::sum};

std::vector<double> losses_of(const Model& model, const std::vector<Tensor>& data) {
  Options options{.batch_size = static_cast<int>(data[1].shape()[0])};
  InferenceModel inference(model, options);
  return losses_by_hand(inference.run({data[0]}).output("y"), data[1]);
}

TEST(MeanLoss, F16_IsThatOfAllSamplesWhateverTheOutputModeReturns) {
  for (const OutputMode mode : modes) {
    const Model model = classifier(LossReduction::mean);
    TrainingModel training(model, replicated(mode), Sgd{.learning_rate = 0});
    const auto data = samples(48, false);
    EXPECT_NEAR(training.step(data).mean_loss, mean(losses_of(model, data)), 1e-6)
        << to_string(mode);
  }
}

// 43 samples are two updates of 16 samples, and a last one of 11 in micro-batches of one.
TEST(MeanLoss, F16_WeighsEverySampleOfAShortUpdateTheSame) {
  for (const std::int64_t count : {43, 35, 11, 1})
    for (const OutputMode mode : {OutputMode::automatic, OutputMode::all}) {
      const Model model = classifier(LossReduction::mean);
      TrainingModel training(model, replicated(mode), Sgd{.learning_rate = 0});
      const auto data = samples(count, false);
      EXPECT_NEAR(training.step(data).mean_loss, mean(losses_of(model, data)), 1e-6)
          << count << ", " << to_string(mode);
    }
}

TEST(MeanLoss, F16_OfALossThatIsNotReducedIsTheMeanOfItsTerms) {
  const Model model = classifier(LossReduction::none);
  for (const OutputMode mode : modes) {
    TrainingModel training(model, replicated(mode), Sgd{.learning_rate = 0});
    const auto data = samples(48, false);
    EXPECT_NEAR(training.step(data).mean_loss, mean(losses_of(model, data)), 1e-6)
        << to_string(mode);
  }
}

TEST(MeanLoss, F16_OfSumsIsTheMeanOverSamplesOfTheSumThatEachIsPartOf) {
  const Model model = classifier(LossReduction::sum);
  TrainingModel training(model, replicated(OutputMode::final), Sgd{.learning_rate = 0});
  const auto data = samples(48, false);
  EXPECT_NEAR(training.step(data).mean_loss, mean_of_sums(losses_of(model, data), 4), 1e-5);
}

TEST(MeanLoss, F16_OfAnIdentityLossIsTheNumberThatItMakes) {
  Model model("identity");
  const Value x = model.linear("fc", model.input("x", {1}), 1, false);
  model.loss(model.identity_loss(model.mul(x, x), LossReduction::mean));
  model.set_weight("fc.weight", Tensor({1, 1}, {2}));
  Options options = options_for(2, 2, 1);
  TrainingModel training(model, options, Sgd{.learning_rate = 0});
  EXPECT_EQ(training.step({Tensor({4, 1}, {1, 2, 3, 4})}).mean_loss, 4 * 30 / 4.0);
  EXPECT_EQ(training.step({Tensor({3, 1}, {1, 2, 3})}).mean_loss, 4 * 14 / 3.0);
}

// The weights change within a step. Each micro-batch counts with the weights with which it ran.
TEST(MeanLoss, F16_IsTheMeanOfTheLossesThatOutputModeAllReturns) {
  const Model model = classifier(LossReduction::mean);
  TrainingModel training(model, replicated(OutputMode::all), AdamW{.learning_rate = 0.1});
  for (int step = 0; step < 3; ++step) {
    const StepResult result = training.step(samples(48, false));
    double sum = 0;
    for (const float loss : result.loss.as<float>()) sum += double{loss};
    EXPECT_EQ(result.mean_loss, sum / 12);
  }
}

std::vector<double> trained(const Options& options) {
  TrainingModel training(tied_model(), options, AdamW{.learning_rate = 0.1});
  std::vector<double> losses;
  for (const std::int64_t count : {48, 42, 48})
    losses.push_back(training.step(samples(count, true)).mean_loss);
  return losses;
}

TEST(MeanLoss, F16_HasTheSameBitsOnEveryTopology) {
  const std::vector<double> expected = trained(replicated(OutputMode::final));
  std::vector<Options> topologies(5, replicated(OutputMode::final));
  topologies[0].topology.stages = {Stage{"B1", "B2"}};
  topologies[1].topology.schedule = PipelineSchedule::interleaved;
  topologies[2].topology.strategy = Strategy::sharded;
  topologies[3].output.mode = OutputMode::all;
  topologies[4].topology.strategy = Strategy::serial_phased;
  for (const Options& options : topologies) {
    const std::vector<double> losses = trained(options);
    EXPECT_EQ(std::memcmp(losses.data(), expected.data(), sizeof(double) * losses.size()), 0);
  }
}

TEST(MeanLoss, F16_IsNoNumberInInference) {
  InferenceModel inference(classifier(LossReduction::mean), options_for(4, 1, 1));
  EXPECT_TRUE(std::isnan(inference.run({samples(4, false)[0]}).mean_loss));
  EXPECT_TRUE(std::isnan(inference.outline().mean_loss));
}

}  // namespace
}  // namespace penstock::testing
