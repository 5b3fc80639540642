// These tests import networks that PyTorch has exported in the ONNX format, and compare what they
// compute, and how they train, with PyTorch in double precision. tests/tools/compare_onnx.py makes
// the files, and compares large networks.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/data_path.hpp"
#include "tests/support/reference_file.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

/// An Exported is a network with what PyTorch has computed by it.
struct Exported {
  explicit Exported(const std::string& name)
      : path(data_path("onnx/" + name + ".onnx").string()),
        reference(read_reference(data_path("onnx/" + name + ".safetensors"))) {}

  const Tensor& stored(const std::string& name) const { return reference.tensors.at(name); }
  int batch() const { return std::stoi(reference.metadata.at("batch")); }

  std::string path;
  ReferenceFile reference;
};

/// Returns the network with a loss of its scores, in the form for training.
Model network(const Exported& exported) {
  Model model = Model::from_onnx(exported.path);
  const Tensor& target = exported.stored("target");
  const std::vector<std::int64_t> dims(target.shape().begin() + 1, target.shape().end());
  const Value labels = model.input("target", Shape(dims), DType::i64),
              scores = model.output("scores");
  const int classes = static_cast<int>(model.shape(scores).rank()) - 1;
  model.loss(model.cross_entropy(scores, labels, {.class_axis = classes}));
  return model;
}

TrainingRun trained(const Exported& exported, int stages) {
  Options options{.batch_size = exported.batch()};
  options.topology.automatic_stages = stages > 1 ? stages : 0;
  return train(network(exported), options,
               Sgd{.learning_rate = std::stod(exported.reference.metadata.at("lr"))},
               {exported.stored("in.x"), exported.stored("target")}, 2);
}

class ExportedNetwork : public ::testing::TestWithParam<const char*> {};

TEST_P(ExportedNetwork, ComputesWhatPyTorchComputes) {
  const Exported exported(GetParam());
  InferenceModel model(Model::from_onnx(exported.path), {.batch_size = exported.batch()});
  const Tensor x = exported.stored("in.x").rows(0, exported.batch());
  EXPECT_LE(relative_difference(model.run({x}).output("scores"), exported.stored("out")), 1e-5);
}

TEST_P(ExportedNetwork, TrainsAsPyTorchDoes) {
  const Exported exported(GetParam());
  const TrainingRun run = trained(exported, 1);
  const auto losses = exported.stored("losses").as<float>();
  ASSERT_EQ(run.losses.size(), losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i)
    EXPECT_NEAR(run.losses[i], losses[i], 1e-5 * losses[i]) << "update " << i;
  for (const auto& [name, tensor] : exported.reference.tensors) {
    if (!name.starts_with("param.")) continue;
    EXPECT_LE(relative_difference(run.weights.at(name.substr(6)), tensor), 1e-4) << name;
  }
}

TEST_P(ExportedNetwork, TrainsEveryParameterOfPyTorchs) {
  const Exported exported(GetParam());
  const Model model = Model::from_onnx(exported.path);
  const TrainingRun run = trained(exported, 1);
  for (const auto& [name, tensor] : exported.reference.tensors) {
    if (!name.starts_with("param.")) continue;
    const Tensor before = model.weight(name.substr(6));
    if (relative_difference(before, tensor) <= 1e-6) continue;
    EXPECT_GT(relative_difference(before, run.weights.at(name.substr(6))), 0) << name;
  }
}

/// Returns how many layers of each op the imported network has.
std::map<std::string, int> ops_of(const std::string& network) {
  std::map<std::string, int> ops;
  for (const LayerStage& layer : Model::from_onnx(Exported(network).path).stage_assignment())
    ++ops[layer.op];
  return ops;
}

TEST(ExportedPatterns, BecomeLayers) {
  for (const auto& [network, blocks] : {std::pair("transformer", 3), std::pair("encoder", 2)}) {
    std::map<std::string, int> ops = ops_of(network);
    EXPECT_EQ(ops["attention"], blocks) << network;
    EXPECT_EQ(ops["layer_norm"], 2 * blocks) << network;
    EXPECT_EQ(ops["gelu"] + ops["gelu_tanh"], blocks) << network;
    EXPECT_EQ(ops["linear"], 4 * blocks + 1) << network;
    for (const char* part : {"matmul", "softmax", "erf", "tanh", "pow", "rsqrt", "sqrt"})
      EXPECT_EQ(ops[part], 0) << network << " has " << part;
  }
}

TEST(ExportedNorm, MovesItsStatistics) {
  const Exported exported("cnn");
  const Model before = Model::from_onnx(exported.path);
  const TrainingRun run = trained(exported, 1);
  EXPECT_GT(
      relative_difference(before.weight("bn1.running_mean"), run.weights.at("bn1.running_mean")),
      0.01);
}

TEST_P(ExportedNetwork, HasTheSameBitsInAnyNumberOfStages) {
  const Exported exported(GetParam());
  const TrainingRun expected = trained(exported, 1);
  for (const int stages : {2, 4})
    EXPECT_EQ(first_difference(trained(exported, stages), expected), "") << stages << " stages";
}

INSTANTIATE_TEST_SUITE_P(All, ExportedNetwork,
                         ::testing::Values("mlp", "cnn", "lstm2", "gru", "encoder", "decoder",
                                           "transformer"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace penstock::testing
