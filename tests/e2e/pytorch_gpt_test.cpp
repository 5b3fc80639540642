// These tests train a small transformer, and compare its losses and weights with those of PyTorch
// in double precision. tests/tools/pytorch_gpt.py makes the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "apps/networks/gpt.hpp"
#include "penstock/text.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/reference_file.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

const ReferenceFile& reference() {
  static const ReferenceFile file = read_reference(data_path("trajectories/gpt.safetensors"));
  return file;
}

int whole(const char* key) {
  return std::stoi(reference().metadata.at(key));
}
double real(const char* key) {
  return std::stod(reference().metadata.at(key));
}

Model network() {
  Model model = networks::gpt({.layers = whole("layers"),
                               .heads = whole("heads"),
                               .width = whole("width"),
                               .context = whole("context"),
                               .vocabulary = whole("vocabulary")},
                              0);
  for (const ParameterInfo& parameter : model.parameters())
    model.set_weight(parameter.name, reference().tensors.at("init." + parameter.name));
  return model;
}

/// Returns AdamW as the reference has it: with a decay for matrices only, which are the parameters
/// that have two axes.
Optimizer optimizer(const Model& model) {
  AdamW rule{
      .learning_rate = real("learning_rate"), .beta2 = 0.99, .weight_decay = real("weight_decay")};
  AdamW vectors = rule;
  vectors.weight_decay = 0;
  ParameterGroup group{.parameters = {}, .settings = vectors};
  for (const ParameterInfo& parameter : model.parameters())
    if (parameter.shape.rank() == 1) group.parameters.push_back(parameter.name);
  Optimizer result = rule;
  result.groups = {group};
  result.max_grad_norm = real("max_grad_norm");
  const int warm_up = whole("warm_up");
  result.schedule = LearningRateSchedule::cosine(whole("updates") - warm_up,
                                                 real("last_learning_rate") / rule.learning_rate)
                        .after_warm_up(warm_up);
  return result;
}

struct Trained {
  std::vector<float> losses;
  Model model;
};

/// Trains with micro-batches of one batch of the reference, so that each update has one.
Trained train(const Options& options) {
  Model model = network();
  TrainingModel training(model, options, optimizer(model));
  const auto windows =
      token_windows(reference().tensors.at("tokens"), whole("context"), WindowStart::in_order);
  DataLoader loader(windows, options.samples_per_step());
  std::vector<float> losses;
  while (const auto batch = loader.next())
    for (const float loss : training.step(*batch).loss.as<float>()) losses.push_back(loss);
  return {losses, model};
}

Options options_of(int stages, bool recompute = false) {
  Options options{.batch_size = whole("batch")};
  options.output.mode = OutputMode::all;
  options.training.recompute = recompute;
  options.topology.automatic_stages = stages;
  for (int ipu = 0; ipu < stages; ++ipu) options.topology.ipus.push_back(ipu);
  return options;
}

TEST(Gpt, FollowsPyTorchInLossesAndWeights) {
  const Trained trained = train(options_of(1));
  const auto losses = reference().tensors.at("losses").as<float>();
  ASSERT_EQ(trained.losses.size(), losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i)
    EXPECT_NEAR(trained.losses[i], losses[i], 1e-5 * losses[i]) << "update " << i;
  EXPECT_LT(losses.back(), 0.8f * losses.front()) << "the network learns";
  for (const ParameterInfo& parameter : trained.model.parameters())
    EXPECT_LE(relative_difference(trained.model.weight(parameter.name),
                                  reference().tensors.at("final." + parameter.name)),
              1e-4)
        << parameter.name;
}

// The head in the last stage uses the weight of the embedding in the first one.
TEST(Gpt, HasTheSameBitsWhateverTheStagesAndTheRecomputation) {
  const Trained expected = train(options_of(1));
  for (const int stages : {1, 2, 4})
    for (const bool recompute : {false, true}) {
      const Trained trained = train(options_of(stages, recompute));
      EXPECT_EQ(trained.losses, expected.losses);
      for (const ParameterInfo& parameter : expected.model.parameters())
        EXPECT_TRUE(
            same_bits(trained.model.weight(parameter.name), expected.model.weight(parameter.name)))
            << stages << " stages, recompute " << recompute << ": " << parameter.name;
    }
}

}  // namespace
}  // namespace penstock::testing
