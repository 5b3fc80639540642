// F4 of docs/reference.md: some of these tests check that a model has exactly one final loss, and
// what the refusal says if it has not. The others check the form that ops have in inference.
#include "graph/passes/network/model_form.hpp"

#include <gtest/gtest.h>

#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::refusal;

struct Network {
  Network() {
    const ValueId x = builder.input("x", {3});
    y = builder.linear("fc", x, 3);
    target = builder.input("target", {3});
  }
  ValueId loss(const std::string& op, const std::string& name) {
    return builder.apply(op, {y, target}, {}, name);
  }
  ModelBuilder builder;
  ValueId y, target;
};

TEST(FinalLoss, IsTheOnlyOne) {
  Network network;
  const ValueId loss = network.loss("mse_loss", "m");
  EXPECT_EQ(final_loss(network.builder.graph()), loss);
}

TEST(FinalLoss, IsTheOneThatWasNamedWhateverElseIsThere) {
  Network network;
  const ValueId first = network.loss("mse_loss", "m");
  network.loss("l1_loss", "l");
  network.builder.loss(first);
  EXPECT_EQ(final_loss(network.builder.graph()), first);
}

TEST(FinalLoss, IsTheOneThatTheOthersLeadTo) {
  Network network;
  const ValueId a = network.loss("mse_loss", "m"), b = network.loss("l1_loss", "l");
  const ValueId sum = network.builder.apply("add", {a, b});
  const ValueId loss = network.builder.apply("identity_loss", {sum});
  EXPECT_EQ(final_loss(network.builder.graph()), loss);
}

TEST(FinalLoss, IsMissingWhereThereIsNone) {
  Network network;
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { final_loss(network.builder.graph()); }),
            "model \"test\": has no loss, and training needs one: end in a loss such as "
            "cross_entropy, or wrap what should be minimised in identity_loss");
}

TEST(FinalLoss, IsAmbiguousWhereSeveralAreIndependent) {
  Network network;
  const ValueId upstream = network.loss("mse_loss", "m");
  network.loss("l1_loss", "l");
  network.loss("smooth_l1_loss", "s");
  network.builder.apply("identity_loss", {upstream}, {}, "i");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { final_loss(network.builder.graph()); }),
            "model \"test\": has several independent losses, l1_loss \"l\", smooth_l1_loss \"s\" "
            "and identity_loss \"i\", and training minimises one: add them up and wrap the sum in "
            "identity_loss, or train each by an Objective of its own");
}

TEST(FinalLoss, IsAmbiguousWhereSomethingElseWasMadeOfTheLast) {
  Network network;
  network.builder.apply("scale", {network.loss("mse_loss", "m")}, {{"factor", 2.0}}, "twice");
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { final_loss(network.builder.graph()); }),
            "model \"test\": the loss mse_loss \"m\" is an input of scale \"twice\", which is no "
            "loss: wrap what should be minimised in identity_loss, or say with loss() what it is");
}

/// Returns an op that maps (x, count) to (x, count + 1, x). `inference` returns the op that takes
/// its place in inference.
Op stateful(const Op& (*inference)(), std::vector<Update> updates = {{1, 1}}) {
  return {.name = "stateful",
          .infer =
              [](const Attributes&, Types in) {
                return std::vector<TensorType>{in[0], in[1], in[0]};
              },
          .updates = std::move(updates),
          .inference = inference};
}

const Op& identity_of() {
  return find_op("identity");
}

ModelBuilder with(const Op& op) {
  ModelBuilder model;
  model.apply("relu", {model.apply(op, {model.input("x", {2}), model.buffer("n", {1})}, {}, "s")});
  return model;
}

TEST(InferenceForm, KeepsNameFirstInputsAndFirstOutputs) {
  const Op op = stateful(identity_of);
  const Graph before = with(op).graph();
  const Graph graph = inference_form(before);
  EXPECT_EQ(graph.node(0).op, &identity_of());
  EXPECT_EQ(graph.node(0).name, "s");
  EXPECT_EQ(graph.node(0).inputs, std::vector<ValueId>{before.node(0).inputs[0]});
  EXPECT_EQ(graph.node(0).outputs, std::vector<ValueId>{before.node(0).outputs[0]});
  EXPECT_EQ(graph.value(before.node(0).outputs[1]).producer, none);
  EXPECT_EQ(graph.node(1).op, before.node(1).op) << "an op without another form stays";
}

TEST(InferenceForm, TakesTheStatisticsThatBatchNormUpdatesInTraining) {
  ModelBuilder model;
  const auto x = model.input("x", {3, 2, 2});
  model.apply("batch_norm", {x, model.parameter("w", {3}), model.parameter("b", {3}),
                             model.buffer("mean", {3}), model.buffer("var", {3})});
  const Graph graph = inference_form(model.graph());
  EXPECT_EQ(graph.node(0).op->name, "batch_norm_inference");
  EXPECT_EQ(graph.node(0).inputs.size(), 5u);
  EXPECT_EQ(graph.node(0).outputs.size(), 1u);
}

/// Returns a network with two norms and a loss. The buffer "mean0" is frozen, and so is a
/// parameter.
Graph norms() {
  ModelBuilder model;
  auto x = model.input("x", {3, 2, 2});
  for (const std::string number : {"0", "1"})
    x = model.apply("batch_norm",
                    {x, model.parameter("w" + number, {3}), model.parameter("b" + number, {3}),
                     model.buffer("mean" + number, {3}), model.buffer("var" + number, {3})},
                    {{"momentum", 0.5}}, "norm" + number);
  model.apply("identity_loss", {x});
  Graph graph = model.graph();
  for (Variable& variable : graph.variables)
    variable.frozen =
        graph.value(variable.value).name == "mean0" || graph.value(variable.value).name == "w1";
  return graph;
}

TEST(TrainingForm, HasItsLossAndInferenceFormsWhereBuffersAreFrozen) {
  const Graph graph = training_form(norms());
  EXPECT_EQ(graph.loss, graph.nodes.back().outputs[0]);
  EXPECT_EQ(graph.node(0).op->name, "batch_norm_inference");
  EXPECT_EQ(graph.node(0).outputs.size(), 1u);
  EXPECT_EQ(graph.node(1).op->name, "batch_norm");
  EXPECT_EQ(graph.node(1).outputs.size(), 5u);
}

TEST(InferenceForm, RefusesUseOfWhatOnlyTrainingComputes) {
  const Op op = stateful(identity_of);
  Graph graph = with(op).graph();
  graph.node(1).inputs = {graph.node(0).outputs[2]};
  EXPECT_EQ(refusal(Errc::unsupported, [&] { inference_form(graph); }),
            "relu \"relu_1\": its input \"s:2\" is computed in training only");
}

TEST(InferenceForm, RefusesAnOpThatStillUpdatesABuffer) {
  const Op op = stateful(nullptr);
  EXPECT_EQ(refusal(Errc::unsupported, [&] { inference_form(with(op).graph()); }),
            "stateful \"s\": it would change its buffers in inference");
}

}  // namespace
}  // namespace penstock::graph
