#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "penstock/penstock.hpp"
#include "tests/support/onnx_bytes.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

/// Returns the model of a file with these bytes.
Model imported(const std::string& bytes, const OnnxOptions& options = {}) {
  const TemporaryDirectory directory;
  write_file(directory / "model.onnx", bytes);
  return Model::from_onnx((directory / "model.onnx").string(), options);
}

std::string refused(Errc code, const std::string& bytes, const OnnxOptions& options = {}) {
  const TemporaryDirectory directory;
  write_file(directory / "model.onnx", bytes);
  const std::string path = (directory / "model.onnx").string();
  const std::string text = refusal(code, [&] { Model::from_onnx(path, options); });
  const std::size_t end = text.find("model.onnx: ");
  return end == std::string::npos ? text : text.substr(end + 12);
}

Tensor counted(const Shape& shape, float step = 0.1f) {
  std::vector<float> elements;
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    elements.push_back(std::sin(step * static_cast<float>(i + 1)));
  return {shape, std::span<const float>(elements)};
}

/// Returns what a model computes for `x`.
Tensor outputs(const Model& model, const Tensor& x, const std::string& name = "y") {
  InferenceModel inference(model, {.batch_size = static_cast<int>(x.shape()[0])});
  return inference.run({x}).output(name);
}

OnnxBytes perceptron() {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y");
  bytes.initializer("fc1.weight", counted({6, 4})).initializer("fc1.bias", counted({6}));
  bytes.initializer("fc2.weight", counted({3, 6})).initializer("fc2.bias", counted({3}));
  const std::vector<std::pair<std::string, OnnxSetting>> flags{{"transB", std::int64_t{1}}};
  bytes.node({"Gemm", {"x", "fc1.weight", "fc1.bias"}, {"h"}, flags, "/fc1/Gemm"});
  bytes.node({"Relu", {"h"}, {"r"}, {}, "/act/Relu"});
  bytes.node({"Gemm", {"r", "fc2.weight", "fc2.bias"}, {"y"}, flags, "/fc2/Gemm"});
  return bytes;
}

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

TEST(FromOnnx, NamesEveryOperatorThatIsNotSupported) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y");
  bytes.node({"NonMaxSuppression", {"x"}, {"a"}, {}, "first"});
  bytes.node({"FancyOp", {"a"}, {"b"}, {}, "second", "my.domain"});
  bytes.node({"FancyOp", {"b"}, {"y"}, {}, "third", "my.domain"});
  EXPECT_EQ(refused(Errc::unsupported, bytes.file()),
            "these operators cannot be imported: NonMaxSuppression (\"first\"), my.domain.FancyOp "
            "(\"second\", \"third\")");
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

TEST(FromOnnx, RefusesFunctionsThatCallThemselves) {
  OnnxBytes bytes;
  bytes.input("x", {"batch", 4}).output("y").node({"Loop2", {"x"}, {"y"}, {}, "call", "my.domain"});
  bytes.model_field(wire_bytes(
      25, wire_bytes(1, "Loop2") + wire_bytes(4, "a") + wire_bytes(5, "c") +
              wire_bytes(7, onnx_node({"Loop2", {"a"}, {"c"}, {}, "again", "my.domain"})) +
              wire_bytes(10, "my.domain")));
  EXPECT_EQ(refused(Errc::corrupt_file, bytes.file()),
            "functions call each other, or more than 16 deep");
}

TEST(FromOnnx, RefusesNamesThatNothingComputesOrThatAreThereTwice) {
  OnnxBytes missing, twice, no_output;
  missing.input("x", {"batch", 4}).output("y").node({"Add", {"x", "z"}, {"y"}, {}, "sum"});
  EXPECT_EQ(refused(Errc::corrupt_file, missing.file()),
            "node \"sum\" reads \"z\", which no earlier node computes");
  twice.input("x", {"batch", 4})
      .output("y")
      .node({"Relu", {"x"}, {"y"}})
      .node({"Relu", {"x"}, {"y"}});
  EXPECT_EQ(refused(Errc::corrupt_file, twice.file()),
            "node \"y\" computes \"y\", which is there already");
  no_output.input("x", {"batch", 4}).output("z").node({"Relu", {"x"}, {"y"}});
  EXPECT_EQ(refused(Errc::corrupt_file, no_output.file()), "no node computes the output \"z\"");
}

TEST(FromOnnx, RefusesVersionsThatItDoesNotKnow) {
  for (const std::int64_t opset : {6, 22})
    EXPECT_EQ(refused(Errc::unsupported, perceptron().file(opset)),
              "expected operators of a version from 7 to 21, got " + std::to_string(opset));
}

TEST(FromOnnx, RefusesFilesThatAreNoModels) {
  EXPECT_NE(refused(Errc::corrupt_file, ""), "accepted");
  EXPECT_NE(refused(Errc::corrupt_file, "this is a text"), "accepted");
  EXPECT_NE(refusal(Errc::io_error, [] { Model::from_onnx("/there/is/no/file"); }), "accepted");
}

TEST(FromOnnx, RefusesEveryBeginningOfAFile) {
  const std::string bytes = perceptron().file();
  for (std::size_t size = 0; size + 4 < bytes.size(); ++size)
    EXPECT_NE(refused(Errc::corrupt_file, bytes.substr(0, size)), "accepted") << size;
}

TEST(RunOnnx, ComputesInTheTypesAndShapesOfTheFile) {
  OnnxBytes bytes;
  bytes.input("x", {2, 3}).output("most").output("is_large").output("shape");
  bytes.node({"ArgMax", {"x"}, {"most"}, {{"axis", std::int64_t{1}}}});
  bytes.initializer("half", Tensor({}, {0.5f}));
  bytes.node({"Greater", {"x", "half"}, {"is_large"}});
  bytes.node({"Shape", {"x"}, {"shape"}});
  const TemporaryDirectory directory;
  write_file(directory / "model.onnx", bytes.file());
  const auto results = run_onnx((directory / "model.onnx").string(),
                                {{"x", Tensor({2, 3}, {0, 1, 0.2f, 0.7f, 0.1f, 0.6f})}});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].tensor.shape(), Shape({2, 1}));
  EXPECT_EQ(results[0].tensor.as<std::int64_t>()[0], 1);
  EXPECT_EQ(results[0].tensor.as<std::int64_t>()[1], 0);
  ASSERT_EQ(results[1].tensor.dtype(), DType::boolean);
  EXPECT_FALSE(results[1].tensor.as<bool>()[0]);
  EXPECT_TRUE(results[1].tensor.as<bool>()[5]);
  EXPECT_EQ(results[2].tensor.as<std::int64_t>()[1], 3);
}

TEST(RunOnnx, CompilesInputsInThatAnOperatorHasToKnow) {
  OnnxBytes bytes;
  bytes.input("x", {2, 6}).input("shape", {3}, DType::i64).output("y");
  bytes.node({"Reshape", {"x", "shape"}, {"y"}});
  const TemporaryDirectory directory;
  write_file(directory / "model.onnx", bytes.file());
  const std::string path = (directory / "model.onnx").string();
  const std::vector<std::int64_t> dims{2, 3, 2};
  const auto results = run_onnx(
      path, {{"x", counted({2, 6})}, {"shape", Tensor({3}, std::span<const std::int64_t>(dims))}});
  EXPECT_EQ(results[0].tensor.shape(), Shape({2, 3, 2}));
  EXPECT_NE(refusal(Errc::unsupported, [&] { Model::from_onnx(path); }), "accepted");
}

TEST(DescribeOnnx, SaysWhatIsInAFile) {
  const TemporaryDirectory directory;
  write_file(directory / "model.onnx", perceptron().file());
  const OnnxSummary summary = describe_onnx((directory / "model.onnx").string());
  EXPECT_EQ(summary.opset, 17);
  ASSERT_EQ(summary.inputs.size(), 1u);
  EXPECT_EQ(summary.inputs[0].shape, (std::vector<std::string>{"batch", "4"}));
  ASSERT_EQ(summary.operators.size(), 2u);
  EXPECT_EQ(summary.operators[0].op_type, "Gemm");
  EXPECT_EQ(summary.operators[0].nodes, (std::vector<std::string>{"fc1.Gemm", "fc2.Gemm"}));
  EXPECT_EQ(summary.initializers.size(), 4u);
}

}  // namespace
}  // namespace penstock::testing
