// These tests train a small network with frozen parts, and compare its losses and weights with
// those of PyTorch in double precision. tests/tools/pytorch_frozen.py makes the reference.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/support/data_path.hpp"
#include "tests/support/reference_file.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

const ReferenceFile& reference() {
  static const ReferenceFile file = read_reference(data_path("trajectories/frozen.safetensors"));
  return file;
}

double real(const char* key) {
  return std::stod(reference().metadata.at(key));
}

/// A Case is one of the trainings of the reference.
struct Case {
  const char* name;
  std::vector<std::string> frozen;
  bool frozen_norm;
};

const Case cases[] = {{"training_norm", {"middle.*"}, false},
                      {"norm", {}, true},
                      {"body", {"body.*"}, true},
                      {"body_and_middle", {"body.*", "middle.*"}, true}};

Tensor reference_weight(const Case& one, const char* time, const std::string& name) {
  return reference().tensors.at(std::string(one.name) + "." + time + "." + name);
}

Model network(const Case& one) {
  Model model("net");
  Value x = model.input("x", {3, 6, 6});
  const Value labels = model.labels();
  {
    const auto block = model.block("B1");
    x = model.conv2d("body.conv", x, {.out_channels = 4, .kernel = 3, .bias = false});
  }
  {
    const auto block = model.block("B2");
    x = model.relu(model.batch_norm2d("body.norm", x));
    x = model.tanh(model.linear("first", model.flatten(x), 8));
  }
  {
    const auto block = model.block("B3");
    x = model.tanh(model.linear("middle", x, 8));
  }
  const auto block = model.block("B4");
  model.loss(model.cross_entropy(model.linear("head", x, 5), labels));
  for (const ParameterInfo& parameter : model.parameters())
    model.set_weight(parameter.name, reference_weight(one, "init", parameter.name));
  for (const std::string& pattern : one.frozen) model.freeze(pattern);
  if (one.frozen_norm) model.freeze_statistics("body.norm.*");
  return model;
}

TrainingRun run(const Case& one, const char* stages, const Model& model) {
  Options options{.batch_size = static_cast<int>(real("batch"))};
  options.topology.stages = parse_stages(stages);
  Optimizer optimizer =
      AdamW{.learning_rate = real("learning_rate"), .weight_decay = real("weight_decay")};
  optimizer.max_grad_norm = real("max_grad_norm");
  const Tensor losses = reference().tensors.at(std::string(one.name) + ".losses");
  return train(model, options, optimizer,
               {reference().tensors.at("images"), reference().tensors.at("labels")},
               losses.shape()[0]);
}

class FrozenParts : public ::testing::TestWithParam<Case> {};

TEST_P(FrozenParts, FollowPyTorchInLossesAndWeights) {
  const Model model = network(GetParam());
  const TrainingRun trained = run(GetParam(), "B1,B2,B3,B4", model);
  const auto losses = reference().tensors.at(std::string(GetParam().name) + ".losses");
  ASSERT_EQ(trained.losses.size(), losses.as<float>().size());
  for (std::size_t i = 0; i < trained.losses.size(); ++i)
    EXPECT_NEAR(trained.losses[i], losses.as<float>()[i], 2e-5) << "update " << i;
  for (const ParameterInfo& parameter : model.parameters()) {
    const Tensor& weight = trained.weights.at(parameter.name);
    const Tensor expected = reference_weight(GetParam(), "final", parameter.name);
    if (parameter.frozen)
      EXPECT_TRUE(same_bits(weight, expected)) << parameter.name;
    else
      EXPECT_LE(relative_difference(weight, expected), 2e-4) << parameter.name;
  }
}

TEST_P(FrozenParts, HaveTheSameBitsWhateverTheStages) {
  const TrainingRun single = run(GetParam(), "B1,B2,B3,B4", network(GetParam()));
  for (const char* stages : {"B1,B2|B3,B4", "B1|B2|B3|B4"})
    EXPECT_EQ(first_difference(run(GetParam(), stages, network(GetParam())), single), "") << stages;
}

INSTANTIATE_TEST_SUITE_P(All, FrozenParts, ::testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace penstock::testing
