// These tests ask inference models for some of a model's outputs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "penstock/inference_model.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock {
namespace {

using testing::refusal;
using testing::same_bits;
using testing::uniform;

using Names = std::vector<std::string>;

/// Returns a model that has its loss as an output, for evaluations.
Model network() {
  Model model("classes", 1);
  const Value x = model.input("x", {4}), labels = model.labels();
  const Value logits = model.linear("fc", x, 3);
  model.output("scores", model.softmax(logits));
  model.output("score_logits", logits);
  const Value loss = model.cross_entropy(logits, labels);
  model.output("loss", loss);
  model.loss(loss);
  return model;
}

Names names_of(const StepResult& result) {
  Names names;
  for (const NamedTensor& output : result.outputs) names.push_back(output.name);
  return names;
}

TEST(AskedOutputs, NeedOnlyTheirOwnInputs) {
  const Model model = network();
  const Options options{.batch_size = 2};
  InferenceModel all(model, options), serving(model, options, {"score*"});
  EXPECT_EQ(all.inputs(), (Names{"x", "labels"}));
  EXPECT_EQ(serving.inputs(), (Names{"x"}));
  EXPECT_EQ(serving.training_inputs(), (Names{"x", "labels"}));
  const Tensor x = uniform({2, 4}, 1);
  const std::vector<std::int64_t> labels{0, 2};
  const StepResult result = serving.run({x});
  EXPECT_EQ(names_of(result), (Names{"scores", "score_logits"}));
  EXPECT_TRUE(
      same_bits(result.output("scores"), all.run({x, Tensor({2}, labels)}).output("scores")));
}

TEST(AskedOutputs, ComputeNothingElse) {
  const Model model = network();
  const Options options{.batch_size = 2};
  const InferenceModel scores(model, options, {"scores"}), logits(model, options, {"score_logits"});
  EXPECT_LT(logits.compile_report().stages[0].forward_flops,
            scores.compile_report().stages[0].forward_flops);
}

TEST(AskedOutputs, AreOutputsOfTheModel) {
  const Model model = network();
  const auto refused = [&](const Names& outputs, Errc code) {
    return refusal(code, [&] { InferenceModel(model, {.batch_size = 2}, outputs); });
  };
  EXPECT_NE(refused({"score"}, Errc::invalid_argument).find("there is no output"),
            std::string::npos);
  EXPECT_NE(refused({}, Errc::invalid_model).find("has no output, and inference needs one"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock
