#include <gtest/gtest.h>

#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::refusal;
using testing::same_bits;
using testing::uniform;

Model network() {
  Model model("pair", 1);
  const Value a = model.input("a", {3}), b = model.input("b", {3});
  const Value y = model.linear("fc", model.sub(a, b), 3);
  model.output("y", y);
  model.loss(model.mse_loss(y, b));
  return model;
}

const Tensor a = uniform({2, 3}, 1), b = uniform({2, 3}, 2);

TEST(NamedInputs, MayComeInAnyOrder) {
  const Model by_place = network(), by_name = network();
  TrainingModel first(by_place, {.batch_size = 2}), second(by_name, {.batch_size = 2});
  first.step({a, b});
  second.step({{"b", b}, {"a", a}});
  EXPECT_TRUE(same_bits(by_place.weight("fc.weight"), by_name.weight("fc.weight")));
  InferenceModel inference(by_name, {.batch_size = 2});
  EXPECT_TRUE(same_bits(inference.run({a, b}).output("y"),
                        inference.run({{"b", b}, {"a", a}}).output("y")));
}

TEST(NamedInputs, AreEachGivenOnce) {
  const Model model = network();
  TrainingModel training(model, {.batch_size = 2});
  const Tensor before = model.weight("fc.weight");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] {
                      training.step({{"a", a}, {"c", b}});
                    }),
            "TrainingModel::step: there is no input \"c\"; there are: a, b");
  EXPECT_EQ(refusal(Errc::invalid_argument,
                    [&] {
                      training.step({{"a", a}, {"a", b}});
                    }),
            "TrainingModel::step: expected the input \"a\" once, got it several times");
  const std::vector<NamedTensor> one{{"b", b}};
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { training.step(one); }),
            "TrainingModel::step: expected the input \"a\", got none");
  EXPECT_TRUE(same_bits(model.weight("fc.weight"), before));
  InferenceModel inference(model, {.batch_size = 2});
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { inference.run(one); }),
            "InferenceModel::run: expected the input \"a\", got none");
}

}  // namespace
}  // namespace penstock
