#include "graph/passes/network/inference_form.hpp"

#include <gtest/gtest.h>

#include "graph/ir/op.hpp"
#include "graph/ops/list.hpp"
#include "tests/support/model_builder.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::graph {
namespace {

using testing::ModelBuilder;
using testing::refusal;

/// Maps (x, count) to (x, count + 1, x); `inference` says what becomes of it in inference.
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
  model.apply("batch_norm2d", {x, model.parameter("w", {3}), model.parameter("b", {3}),
                               model.buffer("mean", {3}), model.buffer("var", {3})});
  const Graph graph = inference_form(model.graph());
  EXPECT_EQ(graph.node(0).op->name, "batch_norm2d_inference");
  EXPECT_EQ(graph.node(0).inputs.size(), 5u);
  EXPECT_EQ(graph.node(0).outputs.size(), 1u);
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
