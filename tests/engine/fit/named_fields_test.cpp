// These tests check that fields of data are matched with the inputs of models by their names, and
// that names that contradict the fields' places are refused.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "penstock/fit.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

constexpr std::int64_t all_samples = 8;

/// Returns a model whose inputs are left and right, of one type, and labels.
Model differences() {
  Model model("differences", 3);
  const Value left = model.input("left", {4}), right = model.input("right", {4});
  const Value scores = model.linear("fc", model.sub(left, right), 3);
  model.output("scores", scores);
  model.loss(model.cross_entropy(scores, model.labels()));
  return model;
}

Tensor left() {
  return uniform({all_samples, 4}, 1);
}
Tensor right() {
  return uniform({all_samples, 4}, 2);
}
Tensor classes() {
  return labels({all_samples}, 3, 3);
}

DataLoader loader_of(const std::vector<Tensor>& tensors, std::vector<std::string> names = {}) {
  return {names.empty() ? tensor_dataset(tensors) : tensor_dataset(tensors, std::move(names)),
          all_samples,
          {.mode = LoaderMode::sync, .workers = 0}};
}

DataLoader in_another_order() {
  return loader_of({classes(), right(), left()}, {"labels", "right", "left"});
}

const Options of_training{.batch_size = 4, .training = {.gradient_accumulation = 2}};
const Options of_serving{.batch_size = 4};

/// Returns the weight of a model that was trained on `data` for two epochs.
Tensor trained_on(DataLoader data) {
  const Model model = differences();
  TrainingModel training(model, of_training, Sgd{.learning_rate = 0.1});
  fit(training, data, {.epochs = 2});
  return model.weight("fc.weight");
}

TEST(NamedFields, AreMatchedByNameInAnyOrder) {
  const Tensor expected = trained_on(loader_of({left(), right(), classes()}));
  EXPECT_FALSE(same_bits(trained_on(loader_of({right(), left(), classes()})), expected));
  EXPECT_TRUE(same_bits(trained_on(in_another_order()), expected));
  EXPECT_TRUE(
      same_bits(trained_on(loader_of({classes(), uniform({all_samples, 4}, 9), right(), left()},
                                     {"labels", "weights of the samples", "right", "left"})),
                expected));
}

TEST(NamedFields, AreMatchedInEvaluationAndPredictionToo) {
  InferenceModel model(differences(), of_serving);
  DataLoader placed = loader_of({left(), right(), classes()}), named = in_another_order();
  const Evaluation expected = evaluate(model, placed, {accuracy("scores")});
  EXPECT_EQ(evaluate(model, named, {accuracy("scores", 0)}).values[0].value,
            expected.values[0].value);
  EXPECT_EQ(
      refusal(Errc::invalid_argument, [&] { evaluate(model, named, {accuracy("scores", 3)}); }),
      "accuracy: expected labels in field 3, got a batch of 3 fields");
  EXPECT_TRUE(same_bits(predict(model, named)[0].tensor, predict(model, placed)[0].tensor));
}

TEST(NamedFields, AreMatchedInTheValidationOfATraining) {
  const auto validated = [](DataLoader data, DataLoader validation, std::size_t place) {
    const Model model = differences();
    TrainingModel training(model, of_training, Sgd{.learning_rate = 0.1});
    InferenceModel validation_model(model, of_serving);
    return fit(training, data,
               {.metrics = {accuracy("scores", place)},
                .validation_model = &validation_model,
                .validation_data = &validation})
        .epochs[0]
        .values;
  };
  const auto expected = validated(loader_of({left(), right(), classes()}),
                                  loader_of({left(), right(), classes()}), 2);
  const auto named = validated(in_another_order(), in_another_order(), 0);
  ASSERT_EQ(named.size(), expected.size());
  for (std::size_t i = 0; i < named.size(); ++i) EXPECT_EQ(named[i].value, expected[i].value);
}

std::string refused_by_fit(const std::vector<Tensor>& tensors, std::vector<std::string> names) {
  DataLoader data = loader_of(tensors, std::move(names));
  const Model model = differences();
  TrainingModel training(model, of_training, Sgd{});
  std::string text = refusal(Errc::invalid_argument, [&] { fit(training, data); });
  EXPECT_EQ(training.updates(), 0U);
  return text;
}

TEST(NamedFields, AreRefusedIfOneIsMissingAndAnotherIsNotInItsPlace) {
  EXPECT_EQ(refused_by_fit({classes(), left(), right()}, {"label", "left", "right"}),
            "fit: data: expected a field for each of the inputs left, right, labels, by name or in "
            "that order, but field 1 is \"left\", and there is no field \"labels\"; did you mean "
            "\"label\"?");
  InferenceModel model(differences(), of_serving);
  DataLoader data = loader_of({right(), left(), classes()}, {"right", "lefty", "label"});
  const std::string text =
      ": data: expected a field for each of the inputs left, right, labels, by name or in that "
      "order, but field 0 is \"right\", and there is no field \"left\"; did you mean \"lefty\"?";
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { evaluate(model, data, {}); }), "evaluate" + text);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { predict(model, data); }), "predict" + text);
}

TEST(NamedFields, AreRefusedIfNobodyWouldNoticeThatTwoAreExchanged) {
  EXPECT_EQ(refused_by_fit({left(), right(), classes()}, {"first", "second", "labels"}),
            "fit: data: expected fields that have the names of the inputs left, right, labels, "
            "since \"first\" and \"second\" are both f32[4] and could be exchanged; there is no "
            "field \"left\"; there are: first, second, labels");
  InferenceModel model(differences(), of_serving);
  DataLoader data = loader_of({left(), right()}, {"first", "second"});
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { predict(model, data); }),
            "predict: data: expected fields that have the names of the inputs left, right, since "
            "\"first\" and \"second\" are both f32[4] and could be exchanged; there is no field "
            "\"left\"; there are: first, second");
}

// A name that is like no input's is no contradiction if the types tell the fields apart.
TEST(NamedFields, MayHaveOtherNamesInTheirPlaces) {
  const Tensor expected = trained_on(loader_of({left(), right(), classes()}));
  EXPECT_TRUE(same_bits(
      trained_on(loader_of({left(), right(), classes()}, {"left", "right", "class"})), expected));
  EXPECT_TRUE(same_bits(
      trained_on(loader_of({left(), right(), classes()}, {"left", "other", "class"})), expected));
}

TEST(NamedFields, AreInputsByNameOfACall) {
  const Model model = differences();
  TrainingModel training(model, of_training, Sgd{.learning_rate = 0.1});
  DataLoader data = in_another_order();
  const Batch batch = *data.next();
  const StepResult result = training.step(named_fields(data, batch));
  TrainingModel other(differences(), of_training, Sgd{.learning_rate = 0.1});
  EXPECT_EQ(result.mean_loss, other.step({left(), right(), classes()}).mean_loss);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { named_fields(data, {left()}); }),
            "named_fields: expected 3 tensors, one for each field of the data, got 1");
}

}  // namespace
}  // namespace penstock::testing
