#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "penstock/custom_op.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/model/layer_case.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::refusal;
using testing::same_bits;
using testing::uniform;

Shape shape_of_two(std::span<const Shape> inputs) {
  if (inputs.size() != 2 || !(inputs[0] == inputs[1]))
    throw std::invalid_argument("expected a and b of one shape");
  return inputs[0];
}

void multiply(std::span<const OpInput> inputs, const OpOutput& output) {
  for (std::size_t i = 0; i < output.values.size(); ++i)
    output.values[i] = inputs[0].values[i] * inputs[1].values[i];
}

/// Writes the gradients of those factors that need one.
void multiply_back(std::span<const OpInput> inputs, const OpInput&, const OpInput& gradient,
                   std::span<const OpOutput> input_gradients) {
  for (const std::size_t factor : {0, 1})
    for (std::size_t i = 0; i < input_gradients[factor].values.size(); ++i)
      input_gradients[factor].values[i] = gradient.values[i] * inputs[1 - factor].values[i];
}

/// Adds to each row of the first input the numbers of its class.
void add_class(std::span<const OpInput> inputs, const OpOutput& output) {
  const auto row = output.values.size() / inputs[1].integers.size();
  for (std::size_t i = 0; i < output.values.size(); ++i)
    output.values[i] = inputs[0].values[i] + static_cast<float>(inputs[1].integers[i / row]);
}

void register_ops() {
  static const bool done = [] {
    register_op({"test product", shape_of_two, multiply, multiply_back});
    register_op({"test constant product", shape_of_two, multiply});
    register_op({"test class", [](auto inputs) { return inputs[0]; }, add_class,
                 [](auto, const auto&, const OpInput& gradient, auto input_gradients) {
                   std::ranges::copy(gradient.values, input_gradients[0].values.begin());
                 }});
    register_op({"test failure", [](auto inputs) { return inputs[0]; },
                 [](auto, const auto&) { throw std::runtime_error("the pump is dry"); }});
    return true;
  }();
  ASSERT_TRUE(done);
}

/// Returns a network of two blocks whose gate is `product` of two linear layers.
Model gated(const std::string& product) {
  Model model("gated", 3);
  const Value x = model.input("x", {6}), target = model.input("target", {4});
  model.begin_block("first");
  const Value a = model.linear("a", x, 8), b = model.sigmoid(model.linear("b", x, 8));
  const Value gate = product.empty() ? model.mul(a, b) : model.custom(product, {a, b});
  model.begin_block("second");
  model.loss(model.mse_loss(model.linear("out", gate, 4), target));
  return model;
}

/// Returns the weights after three updates.
std::vector<Tensor> trained(const std::string& product, const Topology& topology, bool recompute) {
  Model model = gated(product);
  Options options{.batch_size = 4, .topology = topology};
  options.training.gradient_accumulation = 8 / 4 / topology.replication_factor;
  options.training.recompute = recompute;
  TrainingModel training(model, options, Adam{.learning_rate = 0.01});
  for (int update = 0; update < 3; ++update)
    training.step({uniform({8, 6}, 10 + static_cast<std::uint64_t>(update)), uniform({8, 4}, 20)});
  std::vector<Tensor> weights;
  for (const ParameterInfo& parameter : model.parameters())
    weights.push_back(model.weight(parameter.name));
  return weights;
}

TEST(CustomOps, TrainLikeAnOpOfTheEnginesInEveryTopology) {
  register_ops();
  const std::vector<Tensor> expected = trained("", {}, false);
  Topology two_stages, two_replicas;
  two_stages.ipus = {0, 1};
  two_replicas.replication_factor = 2;
  for (const Topology& topology : {Topology(), two_stages, two_replicas})
    for (const bool recompute : {false, true}) {
      const std::vector<Tensor> weights = trained("test product", topology, recompute);
      ASSERT_EQ(weights.size(), expected.size());
      for (std::size_t i = 0; i < weights.size(); ++i)
        EXPECT_TRUE(same_bits(weights[i], expected[i])) << "weight " << i;
    }
}

TEST(CustomOps, AreTimedInProfilesAsOpsOfTheEngineAre) {
  register_ops();
  Options options{.batch_size = 4};
  options.runtime.trace = true;
  TrainingModel training(gated("test product"), options, Sgd{});
  training.step({uniform({4, 6}, 1), uniform({4, 4}, 2)});
  std::set<bool> directions;
  for (const OpProfile& op : training.profile().ops)
    if (op.op.starts_with("custom")) {
      EXPECT_GT(op.timed_runs, 0u) << op.name;
      directions.insert(op.backward);
    }
  EXPECT_EQ(directions, (std::set<bool>{false, true}));
}

TEST(CustomOps, WithoutAGradientPassNoneOn) {
  register_ops();
  Model model = gated("test constant product");
  const Tensor before = model.weight("a.weight"), out = model.weight("out.weight");
  TrainingModel training(model, {.batch_size = 4}, Sgd{.learning_rate = 0.1});
  training.step({uniform({4, 6}, 1), uniform({4, 4}, 2)});
  EXPECT_TRUE(same_bits(model.weight("a.weight"), before));
  EXPECT_FALSE(same_bits(model.weight("out.weight"), out));
}

TEST(CustomOps, ReadIntegers) {
  register_ops();
  Model model;
  const Value x = model.input("x", {2}), classes = model.labels();
  const Value sum = model.custom("test class", {model.linear("fc", x, 2), classes});
  model.output("sum", sum);
  model.loss(model.mse_loss(sum, x));
  model.set_weight("fc.weight", Tensor::zeros(DType::f32, {2, 2}));
  model.set_weight("fc.bias", Tensor::zeros(DType::f32, {2}));
  InferenceModel inference(model, {.batch_size = 3});
  const std::vector<std::int64_t> labels{4, 0, 2};
  const Tensor result = inference.run({uniform({3, 2}, 1), Tensor({3}, labels)}).output("sum");
  EXPECT_TRUE(same_bits(result, Tensor({3, 2}, {4, 4, 0, 0, 2, 2})));
  TrainingModel training(model, {.batch_size = 3}, Sgd{.learning_rate = 0.1});
  training.step({uniform({3, 2}, 1), Tensor({3}, labels)});
  EXPECT_FALSE(same_bits(model.weight("fc.bias"), Tensor::zeros(DType::f32, {2})));
}

TEST(CustomOps, ThatThrowEndTheCallWithTheirText) {
  register_ops();
  Model model;
  model.output("y", model.custom("test failure", {model.input("x", {2})}));
  InferenceModel inference(model, {.batch_size = 3});
  const std::string text = refusal(Errc::stage_failed, [&] {
    inference.run({uniform({3, 2}, 1)});
  });
  EXPECT_NE(text.find("the pump is dry"), std::string::npos) << text;
}

TEST(CustomOps, RefuseShapesWhenTheLayerIsAdded) {
  register_ops();
  Model model;
  const Value a = model.input("a", {3}), b = model.input("b", {4});
  EXPECT_EQ(refusal(Errc::shape_mismatch,
                    [&] {
                      model.custom("test product", {a, b});
                    }),
            "custom \"custom_1\": test product: expected a and b of one shape");
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { model.custom("test product", {}); }),
            "custom: expected at least one input for op \"test product\"");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] {
                      model.custom("test produkt", {a, a});
                    }),
            "custom: there is no op \"test produkt\"; register_op() makes one known; did you mean "
            "\"test product\"?");
  EXPECT_TRUE(testing::ops_of(model).empty());
}

TEST(CustomOps, AreKnownByOneNameEach) {
  register_ops();
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [] {
                      register_op({"test product", shape_of_two, multiply});
                    }),
            "register_op: expected a new name, got that of another op, \"test product\"");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [] {
                      register_op({"", shape_of_two, multiply});
                    }),
            "register_op: expected a name, got an empty one");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [] {
                      register_op({"no forward", shape_of_two, {}});
                    }),
            "register_op: expected op \"no forward\" to have the functions shape and forward");
}

}  // namespace
}  // namespace penstock
