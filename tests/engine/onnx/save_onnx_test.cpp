#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <string>

#include "engine/onnx/format/read_onnx_file.hpp"
#include "penstock/output_file.hpp"
#include "tests/engine/onnx/imported_models.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

class SaveOnnx : public ::testing::Test {
 protected:
  std::string path() const { return (directory_ / "model.onnx").string(); }
  OnnxFile written(const Model& model, const OnnxExportOptions& options = {}) const {
    model.save_onnx(path(), options);
    return read_onnx_file(path());
  }
  Model again(const Model& model, const OnnxExportOptions& options = {}) const {
    model.save_onnx(path(), options);
    return Model::from_onnx(path());
  }
  /// Expects that a model computes the same bits for `inputs` after it was written and read.
  void expect_same_bits(const Model& model, const std::vector<Tensor>& inputs,
                        const std::string& output = "y") const {
    EXPECT_TRUE(same_bits(result(again(model), inputs, output), result(model, inputs, output)));
  }
  void expect_near(const Model& model, const std::vector<Tensor>& inputs, double tolerance,
                   const std::string& output = "y") const {
    const Tensor got = result(again(model), inputs, output),
                 expected = result(model, inputs, output);
    ASSERT_EQ(got.shape(), expected.shape());
    for (std::size_t i = 0; i < static_cast<std::size_t>(got.elements()); ++i)
      ASSERT_NEAR(got.as<float>()[i], expected.as<float>()[i], tolerance) << i;
  }
  static Tensor result(const Model& model, const std::vector<Tensor>& inputs,
                       const std::string& output) {
    InferenceModel inference(model, {.batch_size = static_cast<int>(inputs[0].shape()[0])});
    return inference.run(inputs).output(output);
  }

  TemporaryDirectory directory_;
};

template <class Items, class Name>
std::vector<std::string> names(const Items& items, const Name& name) {
  std::vector<std::string> all;
  for (const auto& item : items) all.push_back(std::invoke(name, item));
  return all;
}

/// Returns a network with everything that training alone needs.
Model classifier() {
  Model model("classifier", 3);
  Value x = model.input("image", {3, 8, 8});
  const Value labels = model.labels();
  x = model.conv2d("conv", x, {.out_channels = 4, .kernel = 3, .padding = 1});
  x = model.relu(model.batch_norm2d("norm", x));
  x = model.dropout("drop", model.max_pool2d(x), 0.5);
  const Value scores = model.linear("fc", model.flatten(x), 5);
  model.output("scores", scores);
  const Value loss = model.cross_entropy(scores, labels);
  model.output("loss", loss);
  model.loss(loss);
  model.set_weight("norm.running_mean", counted({4}));
  model.set_weight("norm.running_var", Tensor({4}, {0.5f, 1, 2, 3}));
  return model;
}

TEST_F(SaveOnnx, LeavesOutWhatTrainingAloneNeeds) {
  const OnnxFile file = written(classifier());
  EXPECT_EQ(file.ir_version, 8);
  EXPECT_EQ(file.opsets.at(""), 17);
  EXPECT_EQ(names(file.graph.nodes, &OnnxNode::op_type),
            (std::vector<std::string>{"Conv", "BatchNormalization", "Relu", "MaxPool", "Flatten",
                                      "Gemm"}));
  EXPECT_EQ(names(file.graph.inputs, &OnnxValueInfo::name), std::vector<std::string>{"image"});
  EXPECT_EQ(names(file.graph.outputs, &OnnxValueInfo::name), std::vector<std::string>{"scores"});
}

TEST_F(SaveOnnx, KeepsNamesAndTheBatchOpen) {
  const Model model = classifier();
  const OnnxFile file = written(model);
  std::vector<std::string> parameters;
  for (const ParameterInfo& parameter : model.parameters()) parameters.push_back(parameter.name);
  EXPECT_EQ(names(file.graph.initializers, [](const auto& each) { return each->name; }),
            parameters);
  EXPECT_EQ(
      names(file.graph.nodes, &OnnxNode::name),
      (std::vector<std::string>{"conv", "norm", "relu_1", "max_pool2d_1", "flatten_1", "fc"}));
  for (const OnnxValueInfo* value : {&file.graph.inputs[0], &file.graph.outputs[0]}) {
    EXPECT_EQ((*value->shape)[0].name, "batch");
    EXPECT_EQ((*value->shape)[1].name, "");
  }
  EXPECT_EQ((*written(model, {.batch_size = 7}).graph.inputs[0].shape)[0].size, 7);
}

TEST_F(SaveOnnx, WritesTextsThatAReaderFindsUnderTheirNames) {
  const std::map<std::string, std::string> texts = {{"author", "n/a"}, {"", "é"}, {"empty", ""}};
  classifier().save_onnx(path(), {.metadata = texts});
  EXPECT_EQ(describe_onnx(path()).metadata, texts);
  classifier().save_onnx(path(), {.weights = OnnxWeights::beside, .metadata = texts});
  EXPECT_EQ(describe_onnx(path()).metadata, texts);
  classifier().save_onnx(path());
  EXPECT_TRUE(describe_onnx(path()).metadata.empty());
}

TEST_F(SaveOnnx, PutsNoWeightsBesideAFileThatTheCallerCommits) {
  OutputFile file(path());
  EXPECT_NE(refusal(Errc::invalid_argument,
                    [&] { classifier().save_onnx(file, {.weights = OnnxWeights::beside}); }),
            "accepted");
}

TEST_F(SaveOnnx, GivesAModelThatComputesTheSameForAnyNumberOfSamples) {
  const Model model = classifier();
  const Model read = again(model);
  for (const std::int64_t samples : {1, 2, 5}) {
    const Tensor x = counted({samples, 3, 8, 8}, 0.3f);
    InferenceModel inference(model, {.batch_size = static_cast<int>(samples)});
    const Tensor labels = Tensor::zeros(DType::i64, {samples});
    const Tensor expected = inference.run({x, labels}).output("scores");
    const Tensor got = outputs(read, x, "scores");
    for (std::size_t i = 0; i < static_cast<std::size_t>(got.elements()); ++i)
      EXPECT_NEAR(got.as<float>()[i], expected.as<float>()[i], 1e-6);
  }
}

TEST_F(SaveOnnx, WritesLossesAndLayersThatAreAskedFor) {
  const Model model = classifier();
  const OnnxFile file = written(model, {.outputs = {"loss", "conv"}});
  EXPECT_EQ(names(file.graph.inputs, &OnnxValueInfo::name),
            (std::vector<std::string>{"image", "labels"}));
  EXPECT_EQ(names(file.graph.outputs, &OnnxValueInfo::name),
            (std::vector<std::string>{"loss", "conv"}));
  EXPECT_EQ(file.graph.nodes.back().op_type, "SoftmaxCrossEntropyLoss");
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { written(model, {.outputs = {"score"}}); }),
            "OnnxExportOptions::outputs: model \"classifier\" has neither an output nor a layer "
            "\"score\"; did you mean \"scores\"?");
}

TEST_F(SaveOnnx, WritesLossesIfThereAreNoOtherOutputs) {
  Model model("losses");
  const Value x = model.input("x", {3});
  model.output("loss", model.mse_loss(x, model.input("target", {3})));
  EXPECT_EQ(written(model).graph.inputs.size(), 2u);
}

TEST_F(SaveOnnx, RefusesAModelWithoutOutputs) {
  Model model("silent");
  model.input("x", {3});
  EXPECT_EQ(refusal(Errc::invalid_model, [&] { model.save_onnx(path()); }),
            "model \"silent\" has no output to write; output() makes one of a value");
}

TEST_F(SaveOnnx, PutsWeightsBesideTheFile) {
  const Model model = classifier();
  model.save_onnx(path(), {.weights = OnnxWeights::beside});
  std::uint64_t weights = 0;
  for (const ParameterInfo& parameter : model.parameters())
    weights += 4 * static_cast<std::uint64_t>(parameter.shape.elements());
  EXPECT_EQ(std::filesystem::file_size(path() + ".data"), weights);
  EXPECT_LT(std::filesystem::file_size(path()), weights + 2000);
  const Tensor x = counted({2, 3, 8, 8}, 0.3f);
  const Tensor from_two_files = outputs(Model::from_onnx(path()), x, "scores");
  EXPECT_TRUE(same_bits(from_two_files, outputs(again(model), x, "scores")));
}

TEST_F(SaveOnnx, RefusesAllThatItCannotWriteAtOnceAndWritesNothing) {
  Model model("odd");
  Value x = model.input("x", {4});
  const Value target = model.input("target", {4});
  x = model.linear("fc", x, 4);
  const Value first = model.poisson_nll_loss(x, target);
  const Value second = model.gaussian_nll_loss(x, target, model.exp(x));
  model.output("first", first);
  model.output("second", second);
  const std::string text = refusal(Errc::unsupported, [&] { model.save_onnx(path()); });
  EXPECT_NE(text.find("poisson_nll_loss \"poisson_nll_loss_1\""), std::string::npos) << text;
  EXPECT_NE(text.find("gaussian_nll_loss \"gaussian_nll_loss_1\""), std::string::npos) << text;
  EXPECT_EQ(text, refusal(Errc::unsupported, [&] { model.check_onnx(); }));
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(SaveOnnx, LeavesTheOldFileIfANewOneCannotBeWritten) {
  write_file(path(), "old");
  Model model("silent");
  EXPECT_NE(refusal(Errc::invalid_model, [&] { model.save_onnx(path()); }), "accepted");
  EXPECT_EQ(file_content(path()), "old");
}

TEST_F(SaveOnnx, KeepsTheTypesOfInputs) {
  Model model("types");
  const Value image = model.input("image", {2, 4}, DType::u8);
  const Value ids = model.input("ids", {3}, DType::i32);
  const Value table = model.embedding("table", ids, 5, 4);
  Value x = model.add(model.to_float(image, 1 / 255.0), model.mean(table, {1}, true));
  model.output("y", x);
  const OnnxFile file = written(model);
  EXPECT_EQ(file.graph.inputs[0].type, OnnxType::u8);
  EXPECT_EQ(file.graph.inputs[1].type, OnnxType::i32);
}

TEST_F(SaveOnnx, NamesOutputsThatShareAValue) {
  Model model("names");
  const Value y = model.relu(model.input("x", {3}));
  model.output("first", y);
  model.output("second", y);
  const OnnxFile file = written(model);
  EXPECT_EQ(names(file.graph.outputs, &OnnxValueInfo::name),
            (std::vector<std::string>{"first", "second"}));
  for (const char* name : {"first", "second"}) expect_same_bits(model, {counted({2, 3}, 1)}, name);
}

TEST_F(SaveOnnx, WritesRecurrentLayersWithTheirInputProductsInOneNode) {
  Model model("steps", 5);
  const Value x = model.input("x", {6, 3});
  Value y = model.lstm("lstm", x, {.hidden_size = 4, .layers = 2, .bidirectional = true}).output;
  y = model.gru("gru", y, {.hidden_size = 5}).output;
  model.output("y", model.rnn("rnn", y, {.hidden_size = 2}).output);
  const OnnxFile file = written(model);
  std::vector<std::string> kinds = names(file.graph.nodes, &OnnxNode::op_type);
  EXPECT_EQ(std::ranges::count(kinds, "LSTM"), 4);
  EXPECT_EQ(std::ranges::count(kinds, "MatMul"), 0);
  expect_same_bits(model, {counted({3, 6, 3}, 0.4f)});
}

// A scale that is rounded down would give one element less.
TEST_F(SaveOnnx, KeepsSizesThatAreNoMultiplesOfTheOldOnes) {
  for (const auto& [before, after] : {std::pair(3, 7), {7, 25}, {9, 41}, {10, 3}}) {
    Model model("sizes");
    const Value x = model.input("x", {1, before});
    model.output("y", model.interpolate(x, {.size = {after}, .mode = InterpolateMode::linear}));
    EXPECT_EQ(result(again(model), {counted({2, 1, before})}, "y").shape(), Shape({2, 1, after}));
  }
}

TEST_F(SaveOnnx, CountsNothingOutsideOfImagesInMeansWithoutPadding) {
  // The last window ends outside of the image; with kernel 1, another one would begin there.
  for (const auto& [kernel, stride, size] : {std::array{3, 2, 6}, std::array{1, 3, 5}}) {
    Model model("means", 1);
    model.output("y",
                 model.avg_pool2d(
                     model.input("x", {2, size, size}),
                     {.kernel = {kernel, kernel}, .stride = {stride, stride}, .ceil_mode = true}));
    const OnnxFile file = written(model);
    const auto pool = std::ranges::find(file.graph.nodes, "AveragePool", &OnnxNode::op_type);
    ASSERT_NE(pool, file.graph.nodes.end());
    EXPECT_EQ(pool->integer("count_include_pad", -1), 0);
    expect_same_bits(model, {counted({2, 2, size, size})});
  }
}

TEST_F(SaveOnnx, WritesATransformer) {
  Model model("transformer", 5);
  const Value ids = model.input("ids", {6}, DType::i64);
  Value x = model.embedding("table", ids, 9, 8);
  x = model.transformer_encoder_layer("block", x, {.heads = 2, .dim_feedforward = 16});
  model.output("y", model.linear("head", x, 9));
  const Tensor tokens = integers({1, 2, 3, 4, 5, 6, 8, 7, 6, 5, 4, 3}).reshaped({2, 6});
  expect_near(model, {tokens}, 1e-5);
}

/// Returns tensors for the inputs of the file at `path`, with 2 for each size that it leaves open.
std::vector<NamedTensor> drawn_inputs(const std::string& path) {
  std::vector<NamedTensor> inputs;
  for (const OnnxTensorInfo& info : describe_onnx(path).inputs) {
    std::vector<std::int64_t> dims;
    for (const std::string& dim : info.shape)
      dims.push_back(std::isdigit(static_cast<unsigned char>(dim[0])) ? std::stoll(dim) : 2);
    const Shape shape(dims);
    const std::vector<std::int64_t> ones(static_cast<std::size_t>(shape.elements()), 1);
    inputs.push_back(
        {info.name, info.type == "float" ? counted(shape, 0.7f) : Tensor(shape, std::span(ones))});
  }
  return inputs;
}

TEST_F(SaveOnnx, WritesImportedModelsAgain) {
  for (const char* name : {"cnn", "mlp", "lstm2", "gru", "encoder", "decoder"}) {
    SCOPED_TRACE(name);
    const std::string original = data_path(std::string("onnx/") + name + ".onnx");
    Model::from_onnx(original).save_onnx(path());
    EXPECT_NO_THROW(Model::from_onnx(path()));
    const std::vector<NamedTensor> inputs = drawn_inputs(original);
    if (name == std::string("cnn")) {  // The file is in the form for training.
      expect_near(Model::from_onnx(original), {inputs[0].tensor}, 1e-5,
                  describe_onnx(original).outputs[0].name);
      continue;
    }
    const auto before = run_onnx(original, inputs), after = run_onnx(path(), inputs);
    ASSERT_EQ(names(after, &NamedTensor::name), names(before, &NamedTensor::name));
    for (std::size_t output = 0; output < before.size(); ++output) {
      const Tensor &expected = before[output].tensor, &got = after[output].tensor;
      ASSERT_EQ(got.shape(), expected.shape());
      for (std::size_t i = 0; i < static_cast<std::size_t>(got.elements()); ++i)
        ASSERT_NEAR(got.as<float>()[i], expected.as<float>()[i], 1e-5) << i;
    }
  }
}

}  // namespace
}  // namespace penstock::testing
