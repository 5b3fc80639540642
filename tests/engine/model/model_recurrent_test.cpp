#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/inference_model.hpp"
#include "tests/engine/model/layer_case.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::ops_of;
using testing::refusal;
using Names = std::vector<std::string>;

Names names_with_shapes(const Model& model) {
  Names names;
  for (const ParameterInfo& parameter : model.parameters())
    names.push_back(parameter.name + " " + to_string(parameter.shape));
  return names;
}

TEST(ModelRecurrent, LayersHaveTheShapesAndTheParametersOfPyTorch) {
  Model model;
  const Recurrent lstm = model.lstm("lstm", model.input("x", {7, 3}), {.hidden_size = 4});
  EXPECT_EQ(model.shape(lstm.output), (Shape{1, 7, 4}));
  EXPECT_EQ(model.shape(lstm.hidden), (Shape{1, 1, 4}));
  EXPECT_EQ(model.shape(lstm.cell), (Shape{1, 1, 4}));
  EXPECT_EQ(model.tensor_name(lstm.output), "lstm");
  EXPECT_EQ(names_with_shapes(model), (Names{"lstm.weight_ih_l0 [16,3]", "lstm.weight_hh_l0 [16,4]",
                                             "lstm.bias_ih_l0 [16]", "lstm.bias_hh_l0 [16]"}));
  EXPECT_EQ(ops_of(model), (std::vector<std::string_view>{"linear", "lstm", "reshape", "reshape"}));
}

TEST(ModelRecurrent, LayersAndDirectionsAreNumberedAsInPyTorch) {
  Model model;
  const Recurrent gru = model.gru(
      "gru", model.input("x", {7, 3}),
      {.hidden_size = 4, .layers = 2, .bidirectional = true, .dropout = 0.5, .bias = false});
  EXPECT_EQ(model.shape(gru.output), (Shape{1, 7, 8}));
  EXPECT_EQ(model.shape(gru.hidden), (Shape{1, 4, 4}));
  EXPECT_FALSE(gru.cell);
  EXPECT_EQ(names_with_shapes(model),
            (Names{"gru.weight_ih_l0 [12,3]", "gru.weight_hh_l0 [12,4]",
                   "gru.weight_ih_l0_reverse [12,3]", "gru.weight_hh_l0_reverse [12,4]",
                   "gru.weight_ih_l1 [12,8]", "gru.weight_hh_l1 [12,4]",
                   "gru.weight_ih_l1_reverse [12,8]", "gru.weight_hh_l1_reverse [12,4]"}));
  EXPECT_EQ(model.tensor_name(gru.output), "gru");
}

TEST(ModelRecurrent, WeightsStartEvenlyBetweenTheBoundsOfTheHiddenSize) {
  Model model;
  model.rnn("rnn", model.input("x", {7, 300}), {.hidden_size = 25});
  for (const ParameterInfo& parameter : model.parameters()) {
    float largest = 0;
    for (const float weight : model.weight(parameter.name).as<float>())
      largest = std::max(largest, std::abs(weight));
    EXPECT_LE(largest, 0.2f) << parameter.name;
    EXPECT_GT(largest, 0.15f) << parameter.name;
  }
}

/// Returns the message with which lstm() refuses `options`.
std::string refusal_of(Errc code, Model& model, const Value& x, const RecurrentOptions& options) {
  return refusal(code, [&] { model.lstm("lstm", x, options); });
}

TEST(ModelRecurrent, RefusedLeavesNothingBehind) {
  Model model;
  const Value x = model.input("x", {7, 3}), row = model.input("row", {3});
  const Value state = model.input("state", {1, 4}), lengths = model.input("lengths", {});
  const auto mismatch = [&](const Value& input, const RecurrentOptions& options) {
    return refusal_of(Errc::shape_mismatch, model, input, options);
  };
  const auto invalid = [&](const RecurrentOptions& options) {
    return refusal_of(Errc::invalid_argument, model, x, options);
  };
  EXPECT_EQ(mismatch(row, {.hidden_size = 4}),
            "lstm \"lstm\": expected x of type f32 and shape [N,T,I], got f32[1,3]");
  EXPECT_EQ(mismatch(x, {}), "lstm \"lstm\": expected hidden_size of 1 or more, got 0");
  EXPECT_EQ(mismatch(x, {.hidden_size = 4, .layers = 0}),
            "lstm \"lstm\": expected layers of 1 or more, got 0");
  EXPECT_EQ(
      mismatch(x, {.hidden_size = 4, .layers = 2, .initial_hidden = state, .initial_cell = state}),
      "lstm \"lstm\": expected initial_hidden of type f32 and shape [N,2,4], got f32[1,1,4]");
  EXPECT_EQ(mismatch(x, {.hidden_size = 4, .lengths = lengths}),
            "lstm \"lstm\": expected lengths of type i64, got f32[1]; integers come from inputs, "
            "or from argmax() and sort()");
  EXPECT_EQ(invalid({.hidden_size = 4, .dropout = 1.5}),
            "lstm \"lstm\": expected dropout from 0 to 1, got 1.5");
  EXPECT_EQ(invalid({.hidden_size = 4, .nonlinearity = Nonlinearity::relu}),
            "lstm \"lstm\": expected Nonlinearity::tanh, because only rnn takes another one, got "
            "Nonlinearity::relu");
  EXPECT_EQ(invalid({.hidden_size = 4, .initial_hidden = state}),
            "lstm \"lstm\": expected both initial_hidden and initial_cell or neither, got one of "
            "them");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] { model.gru("gru", x, {.hidden_size = 4, .initial_cell = state}); }),
            "gru \"gru\": expected no initial_cell, because only lstm has a cell state, got one; "
            "give initial_hidden only");
  EXPECT_TRUE(ops_of(model).empty());
  EXPECT_TRUE(model.parameters().empty());
  model.lstm("lstm", x, {.hidden_size = 4, .initial_hidden = state, .initial_cell = state});
  EXPECT_NE(refusal(Errc::invalid_model, [&] { model.gru("lstm", x, {.hidden_size = 4}); }),
            "accepted");
}

TEST(ModelRecurrent, ASampleWithoutStepsKeepsItsFirstStates) {
  Model model;
  const Value x = model.input("x", {3, 2}), lengths = model.input("lengths", {}, DType::i64);
  const Value h = model.input("h", {2, 4}), c = model.input("c", {2, 4});
  const Recurrent lstm = model.lstm("lstm", x,
                                    {.hidden_size = 4,
                                     .bidirectional = true,
                                     .lengths = lengths,
                                     .initial_hidden = h,
                                     .initial_cell = c});
  model.output("y", lstm.output);
  model.output("last h", lstm.hidden);
  model.output("last c", lstm.cell);
  InferenceModel inference(model, {.batch_size = 2});
  const std::vector<std::int64_t> steps{0, 3};
  const Tensor first_h = testing::uniform({2, 2, 4}, 1), first_c = testing::uniform({2, 2, 4}, 2);
  const StepResult result = inference.run({{"x", testing::uniform({2, 3, 2}, 3)},
                                           {"lengths", Tensor({2}, steps)},
                                           {"h", first_h},
                                           {"c", first_c}});
  const auto row = [](const Tensor& tensor, std::int64_t i) { return tensor.rows(i, i + 1); };
  EXPECT_TRUE(testing::same_bits(row(result.output("y"), 0), Tensor::zeros(DType::f32, {1, 3, 8})));
  EXPECT_TRUE(testing::same_bits(row(result.output("last h"), 0), row(first_h, 0)));
  EXPECT_TRUE(testing::same_bits(row(result.output("last c"), 0), row(first_c, 0)));
  EXPECT_FALSE(testing::same_bits(row(result.output("last h"), 1), row(first_h, 1)));
}

}  // namespace
}  // namespace penstock
