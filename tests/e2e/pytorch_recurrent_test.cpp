// These tests train a small network of recurrent layers, and compare its losses and weights with
// those of PyTorch in double precision. tests/tools/pytorch_recurrent.py makes the reference.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/data_path.hpp"
#include "tests/support/reference_file.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t updates = 20;

const ReferenceFile& reference() {
  static const ReferenceFile file = read_reference(data_path("trajectories/recurrent.safetensors"));
  return file;
}
const Tensor& stored(const std::string& name) {
  return reference().tensors.at(name);
}

/// Returns an LSTM of two layers in both directions, a plain RNN and a GRU over a part of the
/// steps, which starts with a hidden state of the LSTM.
Model network() {
  Model model("sequences");
  const Value x = model.input("x", {5, 3}), lengths = model.input("lengths", {}, DType::i64);
  const Value target = model.input("target", {2});
  model.begin_block("B1");
  const Recurrent lstm =
      model.lstm("lstm", x, {.hidden_size = 5, .layers = 2, .bidirectional = true});
  model.begin_block("B2");
  const Recurrent rnn = model.rnn("rnn", lstm.output, {.hidden_size = 6, .bias = false});
  const Recurrent gru = model.gru(
      "gru", rnn.output,
      {.hidden_size = 5, .lengths = lengths, .initial_hidden = model.slice(lstm.hidden, 1, 3, 4)});
  const Value features = model.concat(
      {model.flatten(gru.hidden), model.flatten(lstm.cell), model.flatten(gru.output)});
  const Value prediction = model.linear("head", features, 2);
  model.output("prediction", prediction);
  model.loss(model.mse_loss(prediction, target));
  for (const ParameterInfo& parameter : model.parameters())
    model.set_weight(parameter.name, stored("init." + parameter.name));
  return model;
}

TrainingRun run(const char* stages, bool recompute, int threads = 1) {
  Options options{.batch_size = std::stoi(reference().metadata.at("batch"))};
  options.topology.stages = parse_stages(stages);
  options.topology.threads_per_ipu = threads;
  options.training.recompute = recompute;
  const Adam rule{.learning_rate = std::stod(reference().metadata.at("learning_rate"))};
  return train(network(), options, rule, {stored("x"), stored("lengths"), stored("target")},
               updates);
}

TEST(Recurrent, LayersFollowPyTorchInLossesAndWeights) {
  const TrainingRun trained = run("B1,B2", false);
  const auto losses = stored("losses").as<float>();
  ASSERT_EQ(trained.losses.size(), losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i)
    EXPECT_NEAR(trained.losses[i], losses[i], 1e-5 * losses[i]) << "update " << i;
  EXPECT_LT(losses.back(), 0.8f * losses.front()) << "the network learns";
  std::size_t expected = 0;
  for (const auto& [name, tensor] : reference().tensors) expected += name.starts_with("final.");
  EXPECT_EQ(trained.weights.size(), expected);
  for (const auto& [name, weight] : trained.weights)
    EXPECT_LE(relative_difference(weight, stored("final." + name)), 1e-4) << name;
}

TEST(Recurrent, LayersHaveTheSameBitsWhateverTheStagesTheRecomputationAndTheThreads) {
  const TrainingRun expected = run("B1,B2", false);
  for (const char* stages : {"B1,B2", "B1|B2"})
    for (const bool recompute : {false, true})
      for (const int threads : {1, 2})
        EXPECT_EQ(first_difference(run(stages, recompute, threads), expected), "")
            << stages << ", recompute " << recompute << ", " << threads << " threads";
}

}  // namespace
}  // namespace penstock::testing
