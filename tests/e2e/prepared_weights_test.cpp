// In inference, weights are packed when they have changed, and not for each micro-batch. These
// tests check that no change is missed, and that no bit depends on the packing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

/// Returns a model of two blocks with convolutions whose weights can be packed beforehand. Its
/// first two convolutions share their weights.
Model convolutions(std::uint64_t seed = 1) {
  Model model("convolutions", seed);
  Value x = model.input("x", {40, 7, 7});
  const Value labels = model.labels();
  const Conv2dOptions same_size{.out_channels = 40, .kernel = 3, .padding = 1};
  {
    const auto block = model.block("B1");
    x = model.relu(model.conv2d("conv1", x, same_size));
    model.share_parameters("again", "conv1");
    x = model.relu(model.conv2d("again", x, same_size));
  }
  const auto block = model.block("B2");
  x = model.conv2d("conv2", x, {.out_channels = 64, .kernel = 3, .stride = 2});
  x = model.linear("fc", model.flatten(x), 3);
  model.output("scores", x);
  model.loss(model.cross_entropy(x, labels));
  return model;
}

Options serving_options() {
  Options options{.batch_size = 2, .device_iterations = 2};
  options.topology.threads_per_ipu = 1;
  return options;
}

std::vector<Tensor> question() {
  std::vector<float> pixels(4 * 40 * 7 * 7);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  return {Tensor({4, 40, 7, 7}, std::span<const float>(pixels))};
}

Tensor answer(const Model& model, const Options& options) {
  InferenceModel serving(model, options);
  return serving.run(question()).output("scores");
}

TEST(PreparedWeights, FollowEveryChangeOfTheWeights) {
  Model model = convolutions();
  InferenceModel serving(model, serving_options());
  std::vector<Tensor> answers{serving.run(question()).output("scores")};
  const auto expect_new_answer = [&] {
    const Tensor next = serving.run(question()).output("scores");
    EXPECT_TRUE(same_bits(next, answer(model, serving_options())));
    for (const Tensor& earlier : answers) EXPECT_FALSE(same_bits(next, earlier));
    EXPECT_TRUE(same_bits(serving.run(question()).output("scores"), next));
    answers.push_back(next);
  };

  TrainingModel training(model, {.batch_size = 4}, Sgd{});
  training.step({question()[0], Tensor({4}, std::vector<std::int64_t>{0, 1, 2, 0})});
  expect_new_answer();

  const Model other = convolutions(2);
  model.set_weight("conv2.weight", other.weight("conv2.weight"));
  expect_new_answer();

  for (const ParameterInfo& parameter : other.parameters())
    model.set_weight(parameter.name, other.weight(parameter.name));
  expect_new_answer();

  serving.detach();
  model.set_weight("conv1.weight", convolutions(3).weight("conv1.weight"));
  expect_new_answer();

  const TemporaryDirectory directory;
  const std::string path = (directory / "other.safetensors").string();
  convolutions(4).save_weights(path);
  model.load_weights(path);
  expect_new_answer();

  serving.detach();
  training.step({question()[0], Tensor({4}, std::vector<std::int64_t>{2, 1, 0, 1})});
  expect_new_answer();
}

TEST(PreparedWeights, GiveTheSameBitsUnderEveryTopology) {
  const Model model = convolutions();
  const Tensor expected = answer(model, serving_options());
  const auto expect_same = [&](const char* what, const auto& change) {
    Options options = serving_options();
    change(options);
    EXPECT_TRUE(same_bits(answer(model, options), expected)) << what;
  };
  expect_same("one stage", [](Options& o) { o.topology.stages = {{.blocks = {"B1", "B2"}}}; });
  expect_same("one IPU", [](Options& o) { o.topology.ipus = {0, 0}; });
  expect_same("automatic stages", [](Options& o) { o.topology.automatic_stages = 3; });
  expect_same("threads", [](Options& o) { o.topology.threads_per_ipu = 3; });
  expect_same("phases", [](Options& o) { o.topology.strategy = Strategy::serial_phased; });
  expect_same("replicas", [](Options& o) {
    o.device_iterations = 1;
    o.topology.replication_factor = 2;
  });
  expect_same("weights in the host store",
              [](Options& o) { o.training.offload.weights = {.on = true}; });
}

TEST(PreparedWeights, AreToldAsSharedByReplicasLikeTheWeights) {
  const Model model = convolutions();
  Options options = serving_options();
  options.topology.stages = {{.blocks = {"B1", "B2"}}};
  options.device_iterations = 1;
  EXPECT_EQ(InferenceModel(model, options).stage_reports().at(0).bytes_shared_by_replicas, 0);
  std::int64_t weights = 0, packed = 0;
  for (const ParameterInfo& parameter : model.parameters()) {
    const std::int64_t bytes = parameter.shape.elements() * std::int64_t{sizeof(float)};
    weights += bytes;
    if (parameter.shape.rank() == 4) packed += bytes;
  }
  options.topology.replication_factor = 2;
  InferenceModel serving(model, options);
  for (const StageReport& report : serving.stage_reports())
    EXPECT_GE(report.bytes_shared_by_replicas, weights + packed);
}

std::int64_t largest_stage(const InferenceModel& serving) {
  std::int64_t bytes = 0;
  for (const StagePlanReport& stage : serving.compile_report().stages)
    bytes = std::max(bytes, stage.bytes);
  return bytes;
}

TEST(PreparedWeights, AreLeftOutWhereAnIpuHasNoMemoryForThem) {
  const Model model = convolutions();
  Options options = serving_options();
  options.topology.stages = {{.blocks = {"B1", "B2"}}};
  InferenceModel roomy(model, options);
  options.topology.ipu_memory_bytes = largest_stage(roomy) - 1;
  InferenceModel tight(model, options);
  EXPECT_LT(largest_stage(tight), largest_stage(roomy));
  EXPECT_TRUE(
      same_bits(tight.run(question()).output("scores"), roomy.run(question()).output("scores")));
}

TEST(PreparedWeights, CountAsWeightsInProfiles) {
  Options options = serving_options();
  options.runtime.trace = true;
  InferenceModel serving(convolutions(), options);
  serving.run(question());
  const Profile profile = serving.profile();
  std::vector<std::string> names;
  for (const IpuProfile& ipu : profile.ipus) {
    std::int64_t peak = 0;
    for (const StageReport& stage : serving.stage_reports())
      if (stage.ipu == ipu.ipu) peak += stage.peak_bytes;
    EXPECT_EQ(ipu.memory.peak_bytes, peak);
    for (const TensorMemory& tensor : ipu.memory.tensors)
      if (tensor.name.ends_with("/packed")) {
        EXPECT_EQ(tensor.memory_class, MemoryClass::weights);
        names.push_back(tensor.name);
      }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"conv1/packed", "conv2/packed"}));
}

}  // namespace
}  // namespace penstock::testing
