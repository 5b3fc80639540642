// These tests train a small network of transformer layers, and compare its losses and weights with
// those of PyTorch in double precision. tests/tools/pytorch_transformer.py makes the reference.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/support/data_path.hpp"
#include "tests/support/reference_file.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t updates = 20;

const ReferenceFile& reference() {
  static const ReferenceFile file =
      read_reference(data_path("trajectories/transformer.safetensors"));
  return file;
}
const Tensor& stored(const std::string& name) {
  return reference().tensors.at(name);
}
double constant(const std::string& name) {
  return std::stod(reference().metadata.at(name));
}

/// Returns what two attentions with projections of their own make of y and of x [N,5,6].
Value mixed(Model& model, Value x, Value y, Value padding) {
  const Value crossed =
      model.multi_head_attention("cross", y, x, x, {.heads = 2, .key_padding_mask = padding});
  y = y + crossed;
  return y + model.multi_head_attention("mixed", y, {.heads = 4, .bias = false, .causal = true});
}

/// Returns an encoder layer with a trained mask, a decoder layer, and two attentions. `dropout` is
/// that of the layers.
Model network(double dropout = 0) {
  Model model("transformer");
  const Value x = model.input("x", {5, 6}), y = model.input("y", {3, 8});
  const Value padding = model.input("padding", {5}, DType::i64);
  const Value target = model.input("target", {2});
  model.begin_block("B1");
  const Value memory =
      model.transformer_encoder_layer("encoder", model.linear("proj", x, 8),
                                      {.heads = 2,
                                       .dim_feedforward = 12,
                                       .dropout = dropout,
                                       .key_padding_mask = padding,
                                       .attn_mask = model.parameter("distances", {5, 5})});
  model.begin_block("B2");
  const Value decoded = model.transformer_decoder_layer("decoder", y, memory,
                                                        {.heads = 4,
                                                         .dim_feedforward = 10,
                                                         .dropout = dropout,
                                                         .activation = TransformerActivation::gelu,
                                                         .norm_first = true,
                                                         .causal = true,
                                                         .memory_key_padding_mask = padding});
  const Value prediction =
      model.linear("head", model.flatten(mixed(model, x, decoded, padding)), 2);
  model.output("prediction", prediction);
  model.loss(model.mse_loss(prediction, target));
  for (const ParameterInfo& parameter : model.parameters())
    model.set_weight(parameter.name, stored("init." + parameter.name));
  return model;
}

TrainingRun run(const Model& model, const char* stages, bool recompute, int threads = 1) {
  Options options{.batch_size = std::stoi(reference().metadata.at("batch"))};
  options.topology.stages = parse_stages(stages);
  options.topology.threads_per_ipu = threads;
  options.training.recompute = recompute;
  const Sgd rule{.learning_rate = constant("learning_rate"), .momentum = constant("momentum")};
  return train(model, options, rule,
               {stored("x"), stored("y"), stored("padding"), stored("target")}, updates);
}

TEST(Transformers, LayersFollowPyTorchInLossesAndWeights) {
  const TrainingRun trained = run(network(), "B1,B2", false);
  const auto losses = stored("losses").as<float>();
  ASSERT_EQ(trained.losses.size(), losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i)
    EXPECT_NEAR(trained.losses[i], losses[i], 1e-5 * losses[i]) << "update " << i;
  EXPECT_LT(std::accumulate(losses.end() - 5, losses.end(), 0.0f),
            0.8f * std::accumulate(losses.begin(), losses.begin() + 5, 0.0f))
      << "the network learns";
  std::size_t expected = 0;
  for (const auto& [name, tensor] : reference().tensors) expected += name.starts_with("final.");
  EXPECT_EQ(trained.weights.size(), expected);
  for (const auto& [name, weight] : trained.weights)
    EXPECT_LE(relative_difference(weight, stored("final." + name)), 1e-4) << name;
}

/// Checks that the network is trained to the same bits in one stage and in two, with and without
/// recomputation, and with one thread and two. The two stages are cut between the layers.
void expect_same_bits(double dropout) {
  const TrainingRun expected = run(network(dropout), "B1,B2", false);
  for (const char* stages : {"B1,B2", "B1|B2"})
    for (const bool recompute : {false, true})
      for (const int threads : {1, 2})
        EXPECT_EQ(first_difference(run(network(dropout), stages, recompute, threads), expected), "")
            << stages << ", recompute " << recompute << ", " << threads << " threads";
}

TEST(Transformers, LayersHaveTheSameBitsWhateverTheStagesTheRecomputationAndTheThreads) {
  expect_same_bits(0);
}

TEST(Transformers, LayersWithDropoutHaveTheSameBitsWhateverTheTopology) {
  expect_same_bits(0.2);
  EXPECT_NE(first_difference(run(network(0.2), "B1,B2", false), run(network(), "B1,B2", false)),
            "");
}

}  // namespace
}  // namespace penstock::testing
