#include <gtest/gtest.h>

#include <string>

#include "tests/engine/onnx/imported_models.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

TEST(FromOnnx, GivesTheBitsOfTheSameLayers) {
  Model written("written");
  Value x = written.input("x", {4});
  x = written.linear("fc2", written.relu(written.linear("fc1", x, 6)), 3);
  written.output("y", x);
  for (const char* name : {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"})
    written.set_weight(name, counted(written.weight(name).shape()));
  const Tensor rows = counted({5, 4}, 0.7f);
  EXPECT_TRUE(same_bits(outputs(imported(perceptron().file()), rows), outputs(written, rows)));
}

TEST(FromOnnx, NamesLayersParametersAndOutputsAsTheFileDoes) {
  const Model model = imported(perceptron().file());
  std::vector<std::string> parameters, layers;
  for (const ParameterInfo& parameter : model.parameters()) {
    EXPECT_TRUE(parameter.trainable) << parameter.name;
    parameters.push_back(parameter.name);
  }
  for (const LayerStage& layer : model.stage_assignment()) layers.push_back(layer.layer);
  EXPECT_EQ(parameters,
            (std::vector<std::string>{"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}));
  EXPECT_EQ(layers, (std::vector<std::string>{"fc1.Gemm", "act.Relu", "fc2.Gemm"}));
}

TEST(FromOnnx, LayersBeginBlocksByTheirScope) {
  Model model = imported(perceptron().file());
  model.begin_block_at("fc2", "second", 1);
  const LayerStages layers = model.stage_assignment();
  EXPECT_EQ(layers.back().block, "second");
  EXPECT_EQ(layers.back().ipu, 1);
  EXPECT_NE(layers.front().block, "second");
}

TEST(FromOnnx, MakesConstantsOfWhatNoPatternNames) {
  const Model model = imported(perceptron().file(), {.parameters = {"fc2.*"}});
  for (const ParameterInfo& parameter : model.parameters())
    EXPECT_EQ(parameter.trainable, parameter.name.starts_with("fc2.")) << parameter.name;
}

TEST(FromOnnx, MakesConstantsOfWhatAPatternOfConstantsNames) {
  const Model model = imported(perceptron().file(), {.constants = {"*.bias", "fc?.bias"}});
  for (const ParameterInfo& parameter : model.parameters())
    EXPECT_EQ(parameter.trainable, parameter.name.ends_with(".weight")) << parameter.name;
  EXPECT_EQ(refused(Errc::invalid_argument, perceptron().file(), {.constants = {"fc3.*"}}),
            "OnnxOptions::constants: no initializer that is read matches \"fc3.*\"; there are: "
            "fc1.weight, fc1.bias, fc2.weight, fc2.bias");
}

/// Returns a description of a value as PyTorch's exporter writes it.
std::string described(const std::string& name, const std::string& kind) {
  return wire_bytes(
      13, wire_bytes(1, name) +
              wire_bytes(4, wire_bytes(1, "pkg.torch.export.graph_signature.InputSpec.kind") +
                                wire_bytes(2, kind)));
}

TEST(FromOnnx, MakesConstantsOfBuffersUnlessTheyAreNamed) {
  OnnxBytes bytes = perceptron();
  bytes.graph_field(described("fc1.bias", "BUFFER"));
  bytes.graph_field(described("fc2.bias", "CONSTANT_TENSOR"));
  bytes.graph_field(described("fc2.weight", "PARAMETER"));
  const auto constants = [&](const OnnxOptions& options) {
    std::vector<std::string> names;
    for (const ParameterInfo& parameter : imported(bytes.file(), options).parameters())
      if (!parameter.trainable) names.push_back(parameter.name);
    return names;
  };
  EXPECT_EQ(constants({}), (std::vector<std::string>{"fc1.bias", "fc2.bias"}));
  EXPECT_EQ(constants({.parameters = {"*", "fc1.bias"}}), std::vector<std::string>{"fc2.bias"});
}

TEST(FromOnnx, UsesAnInitializerOfSeveralNodesOnce) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y").initializer("w", counted({4, 4}));
  bytes.node({"MatMul", {"x", "w"}, {"h"}}).node({"MatMul", {"h", "w"}, {"y"}});
  EXPECT_EQ(imported(bytes.file()).parameters().size(), 1u);
}

TEST(FromOnnx, FindsSamplesBehindATransposition) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 3, 4}).output("y").initializer("w", counted({4, 2}));
  bytes.node({"Transpose", {"x"}, {"t"}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}}});
  bytes.node({"MatMul", {"t", "w"}, {"m"}});
  bytes.node({"Transpose", {"m"}, {"y"}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}}});
  OnnxBytes plain;
  plain.input("x", {"batch", 3, 4}).output("y").initializer("w", counted({4, 2}));
  plain.node({"MatMul", {"x", "w"}, {"y"}});
  const Tensor x = counted({5, 3, 4}, 0.3f);
  EXPECT_TRUE(same_bits(outputs(imported(bytes.file()), x), outputs(imported(plain.file()), x)));
}

// Exporters of attention join the axis of the samples with that of the heads.

TEST(FromOnnx, KeepsSamplesApartThatAnAxisJoinsWithOthers) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 2, 3, 4}).output("y");
  bytes.initializer(
      "three", Tensor({3}, std::span<const std::int64_t>(std::vector<std::int64_t>{-1, 3, 4})));
  bytes.initializer(
      "four", Tensor({4}, std::span<const std::int64_t>(std::vector<std::int64_t>{-1, 2, 3, 3})));
  bytes.node({"Reshape", {"x", "three"}, {"joined"}});
  bytes.node({"Transpose", {"joined"}, {"turned"}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}}});
  bytes.node({"MatMul", {"joined", "turned"}, {"product"}});
  bytes.node({"Reshape", {"product", "four"}, {"y"}});
  const Model model = imported(bytes.file());
  const Tensor x = counted({5, 2, 3, 4}, 0.3f), y = outputs(model, x);
  EXPECT_EQ(y.shape(), Shape({5, 2, 3, 3}));
  EXPECT_TRUE(same_bits(y.rows(3, 4), outputs(model, x.rows(3, 4))));
  const auto row = x.as<float>().subspan(12, 4);
  float square = 0;
  for (const float element : row) square += element * element;
  EXPECT_NEAR(y.as<float>()[9], square, 1e-6);
}

TEST(FromOnnx, TakesWholeTensorsAsSamplesWhereSamplesWouldMix) {
  OnnxBytes bytes;
  bytes.input("x", {3, 4}).output("y");
  bytes.node({"ReduceSum", {"x"}, {"y"}, {{"keepdims", std::int64_t{0}}}});
  const Model model = imported(bytes.file());
  const Tensor x = counted({2, 3, 4}, 0.3f), y = outputs(model, x);
  ASSERT_EQ(y.shape(), Shape({2}));
  float sum = 0;
  for (const float element : x.rows(1, 2).as<float>()) sum += element;
  EXPECT_NEAR(y.as<float>()[1], sum, 1e-5);
  EXPECT_NE(refused(Errc::unsupported, bytes.file(), {.samples = OnnxSamples::axis}), "accepted");
}

TEST(FromOnnx, AsksForSizesThatTheFileLeavesOpen) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", "length"}).output("y").node({"Relu", {"x"}, {"y"}});
  EXPECT_EQ(
      refused(Errc::unsupported, bytes.file()),
      "input \"x\" has a dimension 1 of any size; OnnxOptions::dimensions may say what \"length\" "
      "is");
  const Model model = imported(bytes.file(), {.dimensions = {{"length", 7}}});
  EXPECT_EQ(outputs(model, counted({2, 7})).shape(), Shape({2, 7}));
}

TEST(FromOnnx, FreezesTheStatisticsOfANormInTheFormForInference) {
  const Tensor ones({2}, {1, 1}), mean({2}, {0.5f, -0.5f}), variance({2}, {4, 9});
  OnnxBytes bytes;
  bytes.input("x", {"batch", 2, 3}).output("y");
  bytes.initializer("bn.weight", ones).initializer("bn.bias", Tensor({2}, {0, 0}));
  bytes.initializer("bn.running_mean", mean).initializer("bn.running_var", variance);
  bytes.node({"BatchNormalization",
              {"x", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"},
              {"y"},
              {{"epsilon", 1e-5f}, {"momentum", 0.8f}}});
  Model model = imported(bytes.file());
  for (const ParameterInfo& parameter : model.parameters())
    EXPECT_EQ(parameter.frozen, parameter.buffer) << parameter.name;
  EXPECT_TRUE(same_bits(model.weight("bn.running_var"), variance));
  EXPECT_NEAR(outputs(model, Tensor({1, 2, 3}, {2.5f, 0, 0, 2.5f, 0, 0})).as<float>()[0], 1, 1e-4);

  model.unfreeze_statistics("bn.*");
  model.loss(model.identity_loss(model.mean(model.output("y"), {0, 1, 2})));
  TrainingModel training(model, {.batch_size = 2}, Sgd{.learning_rate = 0});
  training.step({counted({2, 2, 3})});
  EXPECT_FALSE(same_bits(model.weight("bn.running_mean"), mean));
}

TEST(FromOnnx, WritesOutTheFunctionsOfTheFile) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y").initializer("w", counted({4}));
  bytes.node({"Scaled", {"x", "w"}, {"y"}, {}, "call", "my.domain"});
  const std::string function =
      wire_bytes(1, "Scaled") + wire_bytes(4, "a") + wire_bytes(4, "b") + wire_bytes(5, "c") +
      wire_bytes(7, onnx_node({"Mul", {"a", "b"}, {"inner"}, {}, "product"})) +
      wire_bytes(7, onnx_node({"Relu", {"inner"}, {"c"}, {}, "act"})) + wire_bytes(10, "my.domain");
  bytes.model_field(wire_bytes(25, function));
  const Model model = imported(bytes.file());
  std::vector<std::string> layers;
  for (const LayerStage& layer : model.stage_assignment()) layers.push_back(layer.layer);
  EXPECT_EQ(layers, (std::vector<std::string>{"call.product", "call.act"}));
}

TEST(FromOnnx, KeepsTheRowsOfConstantsThatAreNotForSamples) {
  OnnxBytes bytes;
  bytes.input("x", {1, 3}).output("y");
  bytes.node({"Constant",
              {},
              {"c"},
              {{"value", Tensor({5, 3}, std::span<const float>(std::vector<float>(15, 1)))}}});
  bytes.node({"Add", {"x", "c"}, {"y"}});
  EXPECT_EQ(outputs(imported(bytes.file()), counted({2, 1, 3})).shape(), Shape({2, 5, 3}));
}

TEST(FromOnnx, TrainsInitializersWhateverTheirValuesAre) {
  for (const float first : {0.0f, 1.0f}) {
    OnnxBytes bytes;
    std::vector<float> elements(12, 0);
    elements[0] = first;
    bytes.input("x", {4, 3})
        .output("y")
        .initializer("w", Tensor({4, 3}, std::span<const float>(elements)));
    bytes.node({"Add", {"x", "w"}, {"y"}});
    const Model model = imported(bytes.file());
    ASSERT_EQ(model.parameters().size(), 1u);
    EXPECT_TRUE(model.parameters()[0].trainable) << first;
  }
}

TEST(FromOnnx, TrainsScalarsThatArePatternsThemselves) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 3}).output("y").initializer("scale", Tensor({}, {2}));
  bytes.node({"Mul", {"x", "scale"}, {"y"}});
  EXPECT_TRUE(imported(bytes.file()).parameters().empty());
  const Model model = imported(bytes.file(), {.parameters = {"*", "scale"}});
  ASSERT_EQ(model.parameters().size(), 1u);
  EXPECT_TRUE(model.parameters()[0].trainable);
}

TEST(FromOnnx, FindsTheSamplesOfABatchOfOne) {
  OnnxBytes bytes;
  bytes.input("x", {1, 3, 4}).output("y");
  bytes.node({"Transpose", {"x"}, {"t"}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}}});
  bytes.initializer("apart", integers({3, 1, 1, 4})).initializer("joined", integers({3, 1, 4}));
  bytes.node({"Reshape", {"t", "apart"}, {"a"}}).node({"Reshape", {"a", "joined"}, {"j"}});
  bytes.node({"Transpose", {"j"}, {"y"}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}}});
  const Tensor x = counted({5, 3, 4});
  EXPECT_TRUE(same_bits(outputs(imported(bytes.file()), x), x));
}

/// Returns a file that joins x [N,3,2] as rows [3·N,2] with a constant of as many rows, of which
/// `rows` has those of one sample.
OnnxBytes joined_rows(const std::vector<float>& rows) {
  OnnxBytes bytes;
  std::vector<float> twice;
  for (const float row : rows) twice.insert(twice.end(), 2, row);
  const auto count = static_cast<std::int64_t>(twice.size());
  bytes.input("x", {2, 3, 2}).output("y");
  bytes.initializer("flat", integers({-1, 2})).initializer("apart", integers({3, 2, 3}));
  bytes.node({"Constant",
              {},
              {"c"},
              {{"value", Tensor(Shape({count, 1}), std::span<const float>(twice))}}});
  bytes.node({"Transpose", {"x"}, {"t"}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}}});
  bytes.node({"Reshape", {"t", "flat"}, {"f"}});
  bytes.node({"Concat", {"f", "c"}, {"j"}, {{"axis", std::int64_t{1}}}});
  bytes.node({"Reshape", {"j", "apart"}, {"a"}});
  bytes.node({"Transpose", {"a"}, {"y"}, {{"perm", std::vector<std::int64_t>{1, 0, 2}}}});
  return bytes;
}

TEST(FromOnnx, JoinsRowsOfSamplesWithConstants) {
  for (const std::vector<float>& rows : {std::vector<float>{7, 7, 7}, {7, 8, 9}}) {
    const Tensor x = counted({5, 3, 2}), y = outputs(imported(joined_rows(rows).file()), x);
    ASSERT_EQ(y.shape(), Shape({5, 3, 3}));
    for (std::size_t i = 0; i < 15; ++i) {
      EXPECT_EQ(y.as<float>()[3 * i], x.as<float>()[2 * i]);
      EXPECT_EQ(y.as<float>()[3 * i + 2], rows[i % 3]);
    }
  }
}

TEST(FromOnnx, TakesAnOpenAxis0ForThatOfTheSamples) {
  for (const OnnxDimension& open : {OnnxDimension(""), OnnxDimension(-1)}) {
    OnnxBytes bytes;
    bytes.input("x", {open, 3}).output("y");
    bytes.node({"Relu", {"x"}, {"y"}});
    EXPECT_EQ(outputs(imported(bytes.file()), counted({4, 3})).shape(), Shape({4, 3}));
  }
}

TEST(FromOnnx, TakesAnyNumberOfSamplesOfAFileOfAFixedOne) {
  OnnxBytes bytes;
  bytes.input("x", {2, 3, 4}).output("y").initializer("w", counted({4, 4}));
  bytes.initializer("heads", integers({2, 3, 2, 2})).initializer("flat", integers({2, 12}));
  bytes.node({"MatMul", {"x", "w"}, {"m"}}).node({"Reshape", {"m", "heads"}, {"h"}});
  bytes.node({"Transpose", {"h"}, {"t"}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}}});
  bytes.node({"Reshape", {"t", "flat"}, {"y"}});
  const Model model = imported(bytes.file(), {.samples = OnnxSamples::axis});
  const Tensor x = counted({5, 3, 4}), y = outputs(model, x);
  ASSERT_EQ(y.shape(), Shape({5, 12}));
  EXPECT_TRUE(same_bits(y.rows(4, 5), outputs(model, x.rows(4, 5))));
}

/// Returns an attention of two heads over x [3,samples,4], without softmax, in the form in which
/// PyTorch exports it for a fixed number of samples.
OnnxBytes attention_of_steps(std::int64_t samples) {
  const std::vector<std::int64_t> heads_first{1, 0, 2}, transposed{0, 2, 1};
  OnnxBytes bytes;
  bytes.input("x", {3, samples, 4}).output("y").initializer("w", counted({4, 4}));
  bytes.initializer("heads", integers({3, samples * 2, 2}));
  bytes.initializer("rows", integers({3 * samples, 4}));
  bytes.initializer("steps", integers({3, samples, 4}));
  bytes.node({"Reshape", {"x", "heads"}, {"h"}});
  bytes.node({"Transpose", {"h"}, {"q"}, {{"perm", heads_first}}});
  bytes.node({"Transpose", {"q"}, {"k"}, {{"perm", transposed}}});
  bytes.node({"MatMul", {"q", "k"}, {"scores"}}).node({"MatMul", {"scores", "q"}, {"weighted"}});
  bytes.node({"Transpose", {"weighted"}, {"t"}, {{"perm", heads_first}}});
  bytes.node({"Reshape", {"t", "rows"}, {"r"}}).node({"Gemm", {"r", "w"}, {"projected"}});
  bytes.node({"Reshape", {"projected", "steps"}, {"s"}}).node({"Add", {"s", "x"}, {"y"}});
  return bytes;
}

TEST(FromOnnx, KeepsSamplesApartInAnAttentionThatWasExportedForAnyNumberOfThem) {
  const Tensor x = counted({5, 3, 4}, 0.1f);
  const OnnxOptions options{.samples = OnnxSamples::axis};
  const Tensor y = outputs(imported(attention_of_steps(2).file(), options), x);
  ASSERT_EQ(y.shape(), Shape({5, 3, 4}));
  for (const std::int64_t samples : {1, 3})
    EXPECT_TRUE(same_bits(outputs(imported(attention_of_steps(samples).file(), options), x), y));
}

/// Returns a file that adds to the steps of x [samples,3,4] their mean, which gets an axis of one
/// element in front of that of the samples.
OnnxBytes steps_with_mean(std::int64_t samples) {
  const std::vector<std::int64_t> swapped{1, 0, 2}, steps{1};
  OnnxBytes bytes;
  bytes.input("x", {samples, 3, 4}).output("y");
  bytes.node({"Transpose", {"x"}, {"t"}, {{"perm", swapped}}});
  bytes.node({"ReduceMean", {"x"}, {"m"}, {{"axes", steps}, {"keepdims", std::int64_t{0}}}});
  bytes.initializer("front", integers({0}));
  bytes.node({"Unsqueeze", {"m", "front"}, {"u"}}).node({"Add", {"t", "u"}, {"s"}});
  bytes.node({"Concat", {"s", "u"}, {"c"}, {{"axis", std::int64_t{0}}}});
  bytes.node({"Transpose", {"c"}, {"y"}, {{"perm", swapped}}});
  return bytes;
}

TEST(FromOnnx, FindsASingleSampleWhereAnotherOperandHasIt) {
  const Tensor x = counted({5, 3, 4}, 0.1f);
  const OnnxOptions options{.samples = OnnxSamples::axis};
  const Tensor y = outputs(imported(steps_with_mean(2).file(), options), x);
  ASSERT_EQ(y.shape(), Shape({5, 4, 4}));
  EXPECT_TRUE(same_bits(outputs(imported(steps_with_mean(1).file(), options), x), y));
}

TEST(FromOnnx, RepeatsTheAxesAroundThatOfTheSamples) {
  OnnxBytes bytes;
  bytes.input("x", {2, "batch", 3}).output("y").initializer("times", integers({3, 1, 2}));
  const Model model = imported(bytes.node({"Tile", {"x", "times"}, {"y"}}).file());
  const Tensor x = counted({2, 2, 3}), y = outputs(model, x);
  ASSERT_EQ(y.shape(), Shape({2, 6, 6}));
  for (std::size_t sample = 0; sample < 2; ++sample)
    for (std::size_t row = 0; row < 6; ++row)
      for (std::size_t column = 0; column < 6; ++column)
        EXPECT_EQ(y.as<float>()[(sample * 6 + row) * 6 + column],
                  x.as<float>()[(sample * 2 + row % 2) * 3 + column % 3]);
}

TEST(FromOnnx, PadsTheAxesThatANodeNames) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 3, 2}).output("y");
  bytes.initializer("widths", integers({1, 0, 2, 0})).initializer("axes", integers({2, 1}));
  bytes.node({"Pad", {"x", "widths", "", "axes"}, {"y"}});
  EXPECT_EQ(outputs(imported(bytes.file(18)), counted({4, 3, 2})).shape(), Shape({4, 3, 5}));
}

}  // namespace
}  // namespace penstock::testing
