// These tests compare the rules of optimizers, and gradients, with ONNX's own tests of its
// operators for training. The data are those of Debian's package libonnx-testdata; without it, the
// tests are skipped. There is no rule of Penstock's for Adagrad.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/onnx/format/read_onnx_file.hpp"
#include "graph/plan/optimizers/optimizer_rule.hpp"
#include "tests/engine/onnx/imported_models.hpp"

namespace penstock::testing {
namespace {

namespace fs = std::filesystem;

constexpr double relative = 1e-5;

/// A BackendTest is a folder with a model, of which the last node is the one that is tested, and
/// with tensors.
class BackendTest {
 public:
  explicit BackendTest(const std::string& name)
      : folder_(fs::path(ONNX_TESTS) / name), file_(read_onnx_file(folder_ / "model.onnx")) {}

  const std::vector<OnnxNode>& nodes() const { return file_.graph.nodes; }
  const OnnxNode& node() const { return nodes().back(); }
  std::int64_t opset() const { return file_.opsets.at(""); }
  Tensor input(std::size_t i) const { return tensor("input", i); }
  Tensor output(std::size_t i) const { return tensor("output", i); }
  double number(const char* attribute, double fallback) const {
    const OnnxAttribute* const found = node().find(attribute);
    return found ? static_cast<double>(found->real.value()) : fallback;
  }
  std::string text(const char* attribute) const { return node().find(attribute)->text.value(); }

 private:
  Tensor tensor(const std::string& kind, std::size_t i) const {
    const std::string name = kind + "_" + std::to_string(i) + ".pb";
    return load_onnx_tensor((folder_ / "test_data_set_0" / name).string()).tensor;
  }

  fs::path folder_;
  OnnxFile file_;
};

std::vector<float> elements(const Tensor& tensor) {
  const auto all = tensor.as<float>();
  return {all.begin(), all.end()};
}

void expect_near(const std::vector<float>& got, const Tensor& expected, const std::string& what) {
  const std::vector<float> wanted = elements(expected);
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], wanted[i], relative * std::abs(wanted[i])) << what << ", element " << i;
}

/// Updates the parameters of a test by a rule, and compares weights and state with the outputs. The
/// inputs are the learning rate, the number of updates so far, and then all weights, all gradients
/// and all tensors of each kind of state.
void compare(const BackendTest& test, const OptimizerSettings& settings) {
  const graph::ParameterRule rule = graph::rule_of(settings);
  const std::size_t states = rule.rule->state(rule.hyper).size();
  const std::size_t count = (test.node().inputs.size() - 2) / (2 + states);
  const std::int64_t step = test.input(1).as<std::int64_t>()[0] + 1;
  ASSERT_EQ(test.node().outputs.size(), count * (1 + states));
  for (std::size_t parameter = 0; parameter < count; ++parameter) {
    std::vector<float> weight = elements(test.input(2 + parameter)),
                       gradient = elements(test.input(2 + count + parameter));
    std::vector<std::vector<float>> state;
    for (std::size_t kind = 0; kind < states; ++kind)
      state.push_back(elements(test.input(2 + (2 + kind) * count + parameter)));
    const std::vector<std::span<float>> spans(state.begin(), state.end());
    rule.rule->update(rule.hyper, step, weight, {.sum = gradient.data()}, spans);
    expect_near(weight, test.output(parameter), "weight");
    for (std::size_t kind = 0; kind < states; ++kind)
      expect_near(state[kind], test.output((1 + kind) * count + parameter), "state");
  }
}

class BackendOptimizer : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ASSERT_EQ(test_.input(1).as<std::int64_t>()[0], 0) << "the first update is compared";
  }

  BackendTest test_{std::string("node/test_") + GetParam()};
};

class BackendAdam : public BackendOptimizer {};

// ONNX does not correct the bias of the first update. The data of adam_multiple were computed with
// an epsilon of 0.01, which the node of that test does not say.
TEST_P(BackendAdam, UpdatesWeightsAndStateAsTheRuleDoes) {
  compare(test_, Adam{.learning_rate = test_.input(0).as<float>()[0],
                      .beta1 = test_.number("alpha", 0.9),
                      .beta2 = test_.number("beta", 0.999),
                      .eps = test_.number("epsilon", 0.01),
                      .weight_decay = test_.number("norm_coefficient", 0),
                      .bias_correction = false});
}

INSTANTIATE_TEST_SUITE_P(All, BackendAdam, ::testing::Values("adam", "adam_multiple"),
                         [](const auto& info) { return std::string(info.param); });

class BackendMomentum : public BackendOptimizer {};

TEST_P(BackendMomentum, UpdatesWeightsAndStateAsTheRuleDoes) {
  compare(test_, Sgd{.learning_rate = test_.input(0).as<float>()[0],
                     .momentum = test_.number("alpha", 0),
                     .dampening = 1 - test_.number("beta", 1),
                     .weight_decay = test_.number("norm_coefficient", 0),
                     .nesterov = test_.text("mode") == "nesterov"});
}

INSTANTIATE_TEST_SUITE_P(All, BackendMomentum,
                         ::testing::Values("momentum", "momentum_multiple", "nesterov_momentum"),
                         [](const auto& info) { return std::string(info.param); });

class BackendGradient : public ::testing::TestWithParam<const char*> {};

/// Returns the values of an output and of the gradients of a test's inputs, which become parameters
/// here. An update of SGD with the learning rate 1 subtracts their gradients.
std::vector<Tensor> computed(const BackendTest& test) {
  const std::vector<std::string>& names = test.node().find("xs")->texts;
  const std::string y = test.text("y");
  OnnxBytes bytes;
  for (std::size_t i = 0; i < names.size(); ++i) bytes.initializer(names[i], test.input(i));
  for (const OnnxNode& node : test.nodes())
    if (node.op_type != "Gradient") bytes.node({node.op_type, node.inputs, node.outputs});
  Model model = imported(bytes.output(y).file(test.opset()), {.parameters = names});
  const Value nothing = model.input("nothing", {});
  const Value result = model.add(nothing, model.output(y));
  model.output("result", result);
  model.loss(model.identity_loss(model.mean(result, {0})));
  std::vector<Tensor> results;
  TrainingModel training(model, {.batch_size = 1}, Sgd{.learning_rate = 1});
  const StepResult step = training.step({Tensor({1}, {0})});
  results.push_back(step.output("result"));
  for (std::size_t i = 0; i < names.size(); ++i)
    results.push_back(
        Tensor({}, {test.input(i).as<float>()[0] - model.weight(names[i]).as<float>()[0]}));
  return results;
}

TEST_P(BackendGradient, IsThatOfTheEngine) {
  const BackendTest test(std::string("simple/test_") + GetParam());
  const std::vector<Tensor> results = computed(test);
  for (std::size_t i = 0; i < results.size(); ++i)
    expect_near(elements(results[i]), test.output(i), "output " + std::to_string(i));
}

INSTANTIATE_TEST_SUITE_P(All, BackendGradient,
                         ::testing::Values("gradient_of_add", "gradient_of_add_and_mul"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace penstock::testing
