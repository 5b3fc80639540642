// Patterns of nodes that one layer computes. tests/e2e/pytorch_onnx_test.cpp has networks with
// patterns that PyTorch has exported.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/engine/onnx/imported_models.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

std::vector<std::string> ops_of(const Model& model) {
  std::vector<std::string> ops;
  for (const LayerStage& layer : model.stage_assignment()) ops.push_back(layer.op);
  return ops;
}

bool has_op(const Model& model, const std::string& op) {
  return std::ranges::count(ops_of(model), op) > 0;
}

/// Returns x·w + b, with the operands of the sum in the given order.
OnnxBytes product_and_sum(bool bias_first) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 3, 4}).output("y");
  bytes.initializer("w", counted({4, 2})).initializer("b", counted({2}));
  bytes.node({"MatMul", {"x", "w"}, {"p"}, {}, "/fc/MatMul"});
  bytes.node({"Add",
              bias_first ? std::vector<std::string>{"b", "p"} : std::vector<std::string>{"p", "b"},
              {"y"},
              {},
              "/fc/Add"});
  return bytes;
}

TEST(Patterns, ProductsAndSumsAreLinearLayersWithTheFilesParameters) {
  for (const bool bias_first : {false, true}) {
    const Model model = imported(product_and_sum(bias_first).file());
    EXPECT_TRUE(has_op(model, "linear"));
    EXPECT_FALSE(has_op(model, "matmul") || has_op(model, "add"));
    EXPECT_TRUE(same_bits(model.weight("w"), counted({4, 2})));
    EXPECT_EQ(model.parameters()[0].name, "w");
    const Tensor x = counted({2, 3, 4}, 0.7f), y = outputs(model, x);
    float sum = counted({2}).as<float>()[1];
    for (std::size_t i = 0; i < 4; ++i)
      sum += x.as<float>()[4 + i] * counted({4, 2}).as<float>()[2 * i + 1];
    EXPECT_NEAR(y.as<float>()[3], sum, 1e-6);
  }
}

TEST(Patterns, ProductsThatAreOutputsThemselvesStayProducts) {
  OnnxBytes bytes = product_and_sum(false);
  const Model model = imported(bytes.output("p").file());
  EXPECT_TRUE(has_op(model, "matmul"));
  EXPECT_TRUE(has_op(model, "add"));
  EXPECT_EQ(outputs(model, counted({2, 3, 4}), "p").shape(), Shape({2, 3, 2}));
}

TEST(Patterns, ProductsWithTransposedWeightsAreLinearLayers) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 3, 4}).output("y").initializer("w", counted({2, 4}));
  bytes.node({"Transpose", {"w"}, {"t"}, {{"perm", std::vector<std::int64_t>{1, 0}}}});
  bytes.node({"MatMul", {"x", "t"}, {"p"}}).node({"Relu", {"p"}, {"y"}});
  EXPECT_EQ(ops_of(imported(bytes.file())), (std::vector<std::string>{"linear", "relu"}));
}

/// Returns an attention over x [N,2,3,4] in which the scores are multiplied by `factor`, and `mask`
/// is added to them.
OnnxBytes attention(const Tensor& factor, const Tensor& mask) {
  OnnxBytes bytes;
  bytes.input("q", {"batch", 2, 3, 4}).input("k", {"batch", 2, 5, 4});
  bytes.input("v", {"batch", 2, 5, 4}).output("y");
  bytes.node({"Constant", {}, {"factor"}, {{"value", factor}}});
  bytes.node({"Constant", {}, {"mask"}, {{"value", mask}}});
  bytes.node({"Transpose", {"k"}, {"t"}, {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}}});
  bytes.node({"MatMul", {"q", "t"}, {"raw"}}).node({"Mul", {"raw", "factor"}, {"scaled"}});
  bytes.node({"Add", {"mask", "scaled"}, {"masked"}});
  bytes.node({"Softmax", {"masked"}, {"shares"}, {{"axis", std::int64_t{-1}}}});
  bytes.node({"MatMul", {"shares", "v"}, {"y"}});
  return bytes;
}

Tensor attended(const Model& model) {
  InferenceModel inference(model, {.batch_size = 2});
  return inference
      .run({counted({2, 2, 3, 4}), counted({2, 2, 5, 4}, 0.3f), counted({2, 2, 5, 4}, 0.7f)})
      .output("y");
}

TEST(Patterns, AttentionsAreOneLayerIfFactorsAndMasksFit) {
  const Tensor half({}, {0.5f}), row({1, 1, 1, 5}, {0, -1, 0, -2, 0}), all = counted({3, 5});
  for (const Tensor& mask : {row, all}) {
    const Model model = imported(attention(half, mask).file());
    EXPECT_TRUE(has_op(model, "attention"));
    EXPECT_FALSE(has_op(model, "softmax") || has_op(model, "matmul"));
  }
}

TEST(Patterns, AttentionsThatAreNoneAreImportedNodeByNode) {
  // A factor for each head is none of an attention, but all halves are the same as one.
  const Tensor heads({1, 2, 1, 1}, {0.5f, 0.5f}), half({}, {0.5f}), mask = counted({3, 5});
  const Model apart = imported(attention(heads, mask).file());
  EXPECT_FALSE(has_op(apart, "attention"));
  EXPECT_TRUE(has_op(apart, "softmax"));
  const Tensor expected = attended(apart);
  const Tensor got = attended(imported(attention(half, mask).file()));
  ASSERT_EQ(got.shape(), expected.shape());
  for (std::size_t i = 0; i < got.as<float>().size(); ++i)
    EXPECT_NEAR(got.as<float>()[i], expected.as<float>()[i], 1e-6);
}

/// Returns an attention in which `mask` chooses between scores and a number that is far below them.
OnnxBytes choosing_attention(const Tensor& mask) {
  OnnxBytes bytes;
  bytes.input("q", {"batch", 2, 3, 4}).input("k", {"batch", 2, 5, 4});
  bytes.input("v", {"batch", 2, 5, 4}).output("y");
  bytes.initializer("mask", mask).initializer("low", Tensor({}, {-1e9f}));
  bytes.node({"Transpose", {"k"}, {"t"}, {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}}});
  bytes.node({"MatMul", {"q", "t"}, {"raw"}}).node({"Where", {"mask", "raw", "low"}, {"chosen"}});
  bytes.node({"Softmax", {"chosen"}, {"shares"}, {{"axis", std::int64_t{-1}}}});
  bytes.node({"MatMul", {"shares", "v"}, {"y"}});
  return bytes;
}

TEST(Patterns, MasksThatChooseAreOnesOfAttentionsIfEachRowHasAChoice) {
  const bool all_rows[] = {true, false, false, true, true, false, false, false,
                           true, true,  true,  true, true, true,  true};
  EXPECT_TRUE(has_op(imported(choosing_attention(Tensor({3, 5}, std::span(all_rows))).file()),
                     "attention"));

  const bool hiding[] = {true,  false, false, true, true, false, false, false,
                         false, false, true,  true, true, true,  true};
  const Model model = imported(choosing_attention(Tensor({3, 5}, std::span(hiding))).file());
  EXPECT_FALSE(has_op(model, "attention"));
  // All scores of the row that shows no key are the same number, so that it has the mean of v.
  const Tensor v = counted({2, 2, 5, 4}, 0.7f), y = attended(model);
  float mean = 0;
  for (std::size_t key = 0; key < 5; ++key) mean += v.as<float>()[4 * key + 1] / 5;
  EXPECT_NEAR(y.as<float>()[4 + 1], mean, 1e-6);
}

/// Returns how many bytes the compiler plans for training an attention over `length` rows.
std::int64_t planned_bytes(std::int64_t length) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", length, 16}).output("y").initializer("w", counted({16, 16}));
  bytes.initializer("scale", Tensor({}, {0.25f}));
  bytes.node({"MatMul", {"x", "w"}, {"q"}}).node({"Mul", {"q", "scale"}, {"s"}});
  bytes.node({"Transpose", {"x"}, {"k"}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}}});
  bytes.node({"MatMul", {"s", "k"}, {"scores"}}).node({"Softmax", {"scores"}, {"shares"}});
  bytes.node({"MatMul", {"shares", "x"}, {"y"}});
  Model model = imported(bytes.file());
  model.loss(model.identity_loss(model.mean(model.output("y"), {0, 1, 2})));
  const TrainingModel training(model, {.batch_size = 2});
  std::int64_t planned = 0;
  for (const StagePlanReport& stage : training.compile_report().stages) planned += stage.bytes;
  return planned;
}

TEST(Patterns, TheMemoryOfAnAttentionGrowsWithTheLengthOfTheSequence) {
  EXPECT_LT(static_cast<double>(planned_bytes(2048)),
            2.05 * static_cast<double>(planned_bytes(1024)));
}

TEST(Patterns, ADropoutInAnAttentionIsOneOfTheLayer) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 3, 4}).output("y");
  bytes.initializer("ratio", Tensor({}, {0.25f}));
  bytes.node({"Transpose", {"x"}, {"t"}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}}});
  bytes.node({"MatMul", {"x", "t"}, {"raw"}});
  bytes.node({"Softmax", {"raw"}, {"shares"}}).node({"Dropout", {"shares", "ratio"}, {"kept"}});
  bytes.node({"MatMul", {"kept", "x"}, {"y"}});
  EXPECT_EQ(ops_of(imported(bytes.file())), std::vector<std::string>{"attention_dropout"});
}

/// Returns x·(1 + erf(x/`root`))·`half`.
OnnxBytes gelu(float root, const Tensor& half = Tensor({}, {0.5f})) {
  OnnxBytes bytes;
  bytes.input("x", {3, 4}).output("y");
  bytes.initializer("root", Tensor({}, {root})).initializer("one", Tensor({}, {1}));
  bytes.node({"Constant", {}, {"half"}, {{"value", half}}});
  bytes.node({"Div", {"x", "root"}, {"d"}}).node({"Erf", {"d"}, {"e"}});
  bytes.node({"Add", {"one", "e"}, {"s"}}).node({"Mul", {"half", "s"}, {"h"}});
  bytes.node({"Mul", {"x", "h"}, {"y"}});
  return bytes;
}

TEST(Patterns, AreNoneIfNodesLackInputsOrHaveMoreOutputsOrConstantsAddAxes) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y").node({"Transpose", {}, {"t"}});
  bytes.node({"MatMul", {"x", "t"}, {"y"}});
  EXPECT_NE(refused(Errc::corrupt_file, bytes.file()), "accepted");

  OnnxBytes doubled;
  doubled.input("x", {"batch", 4}).output("y").output("z").initializer("w", counted({4, 4}));
  doubled.node({"MatMul", {"x", "w"}, {"y", "z"}, {}, "product"});
  EXPECT_EQ(
      refused(Errc::unsupported, doubled.file()),
      "this node cannot be imported: MatMul (\"product\"): its output number 1 has no counterpart" +
          std::string(export_advice));

  OnnxBytes raised = gelu(1.41421356f, Tensor({1, 1, 1}, {0.5f}));
  EXPECT_FALSE(has_op(imported(raised.file(), {.samples = OnnxSamples::whole}), "gelu"));
}

TEST(Patterns, AreGelusOnlyWithTheRightNumbers) {
  EXPECT_EQ(ops_of(imported(gelu(1.41421356f).file())), std::vector<std::string>{"gelu"});
  EXPECT_FALSE(has_op(imported(gelu(1.4f).file()), "gelu"));
}

}  // namespace
}  // namespace penstock::testing
