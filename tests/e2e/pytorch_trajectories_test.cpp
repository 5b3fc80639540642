// These tests compare every optimizer, and every way to make a gradient of micro-batches and
// replicas, with PyTorch's runs in double precision. tests/tools/pytorch_trajectories.py makes the
// reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/support/data_path.hpp"
#include "tests/support/reference_file.hpp"
#include "tests/support/training_run.hpp"

namespace penstock::testing {
namespace {

using nlohmann::json;

/// This is the largest change that rounding may make, relative to a tensor's largest magnitude or
/// to a loss.
constexpr double tolerance = 2e-6;
/// This is the least difference, relative to a tensor's largest magnitude, that a run shows if one
/// of its settings is left out.
constexpr double noticed = 5e-4;

const ReferenceFile& reference() {
  static const ReferenceFile file = read_reference(data_path("trajectories/small.safetensors"));
  return file;
}

/// Returns the names of the cases. The reference has a tensor "CASE.losses" for each case.
std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : reference().tensors)
    if (name.ends_with(".losses")) names.push_back(name.substr(0, name.find('.')));
  return names;
}

/// Returns the network of tests/tools/pytorch_trajectories.py, in four blocks. The network is
/// smooth, and no parameter's gradient is so near zero that rounding decides over it, so that
/// rounding stays small.
Model network() {
  Model model("small");
  Value x = model.input("image", {2, 6, 6});
  const Value labels = model.labels();
  {
    const auto block = model.block("A");
    x = model.conv2d("conv", x, {.out_channels = 4, .kernel = 3, .padding = 1, .bias = false});
  }
  {
    const auto block = model.block("B");
    x = model.tanh(model.batch_norm2d("norm", x));
  }
  {
    const auto block = model.block("C");
    x = model.silu(model.linear("fc1", model.flatten(model.avg_pool2d(x)), 8));
  }
  const auto block = model.block("D");
  x = model.linear("fc2", x, 5);
  model.output("logits", x);
  model.loss(model.cross_entropy(x, labels));
  for (const ParameterInfo& parameter : model.parameters())
    model.set_weight(parameter.name, reference().tensors.at("init." + parameter.name));
  return model;
}

int number(const char* key) {
  return std::stoi(reference().metadata.at(key));
}

TrainingRun run(const json& setting, const json& optimizer, int device_iterations) {
  Options options{.batch_size = number("batch_size"), .device_iterations = device_iterations};
  options.topology.replication_factor = setting.at("replicas");
  options.training.gradient_accumulation = setting.at("accumulation");
  options.training.reduction = setting.at("reduction") == "sum" ? Reduction::sum : Reduction::mean;
  const auto& tensors = reference().tensors;
  return train(network(), options, optimizer_from_json(optimizer.dump()),
               {tensors.at("images"), tensors.at("labels")}, number("updates"));
}

/// Returns the largest difference of any weight or running statistic from PyTorch's final one in
/// case `name`.
double difference(const TrainingRun& run, const std::string& name) {
  double most = 0;
  for (const auto& [parameter, tensor] : run.weights)
    most = std::max(
        most, relative_difference(tensor, reference().tensors.at(name + ".final." + parameter)));
  return most;
}

json setting_of(const std::string& name) {
  return json::parse(reference().metadata.at(name));
}

class SmallTrajectories : public ::testing::TestWithParam<std::string> {};

// F10, F11, F13, 2.1 and 2.3 of docs/reference.md: the number of updates in a call makes no
// difference, because it does not change the samples of an update.
TEST_P(SmallTrajectories, FollowPyTorchInLossesWeightsAndRunningStatistics) {
  const json setting = setting_of(GetParam());
  const auto losses = reference().tensors.at(GetParam() + ".losses").as<float>();
  for (const int device_iterations : {1, 3, 5}) {
    const TrainingRun trained = run(setting, setting.at("optimizer"), device_iterations);
    ASSERT_EQ(trained.losses.size(), losses.size());
    for (std::size_t i = 0; i < losses.size(); ++i)
      EXPECT_NEAR(trained.losses[i], losses[i], tolerance * losses[i]) << "micro-batch " << i;
    EXPECT_EQ(trained.weights.size(), 9u);
    for (const auto& [name, tensor] : trained.weights)
      EXPECT_LE(relative_difference(tensor, reference().tensors.at(GetParam() + ".final." + name)),
                tolerance)
          << name;
  }
}

INSTANTIATE_TEST_SUITE_P(PyTorch, SmallTrajectories, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param; });

// Each setting must make a difference, so that a decay, a momentum or a limit that does nothing is
// noticed.
TEST(SmallTrajectoriesFile, NeedsEverySettingOfEveryCase) {
  int settings = 0;
  for (const std::string& name : cases()) {
    const json setting = setting_of(name);
    for (const auto& [left_out, optimizer] : setting.at("without").items()) {
      ++settings;
      EXPECT_GT(difference(run(setting, optimizer, 5), name), noticed)
          << name << " without " << left_out;
    }
  }
  EXPECT_GE(settings, 30);
}

/// Returns the names of the rules that PyTorch has, which are all but PopTorch's "lamb".
std::set<std::string> rules_of_pytorch() {
  std::set<std::string> names;
  for (const OptimizerRuleDescription& rule : optimizer_rules())
    if (rule.name != "lamb") names.emplace(rule.name);
  return names;
}

TEST(SmallTrajectoriesFile, HasEveryRuleThatPyTorchHasAndReplicasAndASum) {
  std::set<std::string> rules, reductions;
  std::set<int> replicas, accumulations;
  int clipped = 0;
  for (const std::string& name : cases()) {
    const json setting = setting_of(name);
    rules.insert(setting.at("optimizer").at("settings").at("rule"));
    reductions.insert(setting.at("reduction"));
    replicas.insert(setting.at("replicas").get<int>());
    accumulations.insert(setting.at("accumulation").get<int>());
    clipped += setting.at("optimizer").contains("max_grad_norm");
  }
  EXPECT_EQ(rules, rules_of_pytorch());
  EXPECT_EQ(reductions, (std::set<std::string>{"mean", "sum"}));
  EXPECT_EQ(replicas, (std::set{1, 2, 4}));
  EXPECT_EQ(accumulations, (std::set{1, 2, 3}));
  EXPECT_GE(clipped, 3);
}

}  // namespace
}  // namespace penstock::testing
