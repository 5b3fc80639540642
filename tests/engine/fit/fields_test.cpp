// These tests check which fields of a loader's batches training and inference take.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/error.hpp"
#include "penstock/fit.hpp"
#include "tests/support/refusal.hpp"

namespace penstock {
namespace {

using testing::refusal;

Tensor column(float first) {
  return Tensor({4, 1}, {first, first + 1, first + 2, first + 3});
}

DataLoader loader(const std::vector<Tensor>& fields) {
  return {tensor_dataset(fields), 4, {.mode = LoaderMode::sync, .workers = 0}};
}

/// Returns a model of y = a + b. Its loss needs two inputs that are declared between a and b.
Model sums() {
  Model model("sums");
  const Value a = model.input("a", {1}), target = model.input("target", {1});
  const Value more = model.input("more", {1}), b = model.input("b", {1});
  const Value y = model.add(a, b);
  model.output("y", y);
  model.loss(model.mse_loss(model.linear("fc", y, 1), model.add(target, more)));
  return model;
}

TEST(Fields, G5_OfATrainingsBatchesAreTheSameInEvaluationAndPrediction) {
  const Model model = sums();
  TrainingModel training(model, {.batch_size = 4});
  InferenceModel inference(model, {.batch_size = 4});
  EXPECT_EQ(inference.training_inputs(), training.inputs());
  DataLoader data = loader({column(0), column(10), column(20), column(100)});
  const History history =
      fit(training, data,
          {.metrics = {mean_of("y")}, .validation_model = &inference, .validation_data = &data});
  EXPECT_EQ(value_of(history.epochs[0].values, "y"), 103);
  EXPECT_EQ(value_of(history.epochs[0].values, "val_y"), 103);
  EXPECT_EQ(value_of(evaluate(inference, data, {mean_of("y")}).values, "y"), 103);
  EXPECT_EQ(predict(inference, data)[0].tensor.as<float>()[1], 102);
}

TEST(Fields, G5_OfInferenceAloneAreItsInputs) {
  InferenceModel inference(sums(), {.batch_size = 4});
  DataLoader data = loader({column(0), column(100)});
  EXPECT_EQ(value_of(evaluate(inference, data, {mean_of("y")}).values, "y"), 103);
  EXPECT_EQ(predict(inference, data)[0].tensor.as<float>()[1], 102);
}

TEST(Fields, G5_ThatAreNeitherAreRefusedBeforeAnythingRan) {
  const Model model = sums();
  TrainingModel training(model, {.batch_size = 4});
  InferenceModel inference(model, {.batch_size = 4});
  DataLoader data = loader({column(0), column(10), column(20), column(100)});
  DataLoader some = loader({column(0), column(10), column(100)});
  const std::string text =
      ": expected batches of the fields that training takes, 4 (a, target, more, b), or of those "
      "of inference alone, 2 (a, b), got 3";
  const FitOptions options{
      .metrics = {mean_of("y")}, .validation_model = &inference, .validation_data = &some};
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { fit(training, data, options); }),
            "fit: validation_data" + text);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { evaluate(inference, some, {}); }),
            "evaluate: data" + text);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { predict(inference, some); }),
            "predict: data" + text);
  EXPECT_EQ(training.updates(), 0U);
  EXPECT_EQ(inference.weight_uploads(), 0U);
}

/// A Named is a dataset of tensors whose fields have the given names.
class Named : public Dataset {
 public:
  Named(const std::vector<std::string>& names, const std::vector<Tensor>& tensors)
      : tensors_(tensor_dataset(tensors)), fields_(tensors_->fields()) {
    for (std::size_t i = 0; i < names.size(); ++i) fields_[i].name = names[i];
  }
  std::int64_t size() const override { return tensors_->size(); }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(const SampleRequest& request, std::span<std::byte* const> destinations) const override {
    tensors_->read(request, destinations);
  }

 private:
  std::shared_ptr<const Dataset> tensors_;
  std::vector<Field> fields_;
};

DataLoader named(const std::vector<std::string>& names, const std::vector<Tensor>& fields) {
  return {std::make_shared<Named>(names, fields), 4, {.mode = LoaderMode::sync, .workers = 0}};
}

TEST(Fields, G5_GoByNameIfAllInputsAreNamed) {
  Model model("target first");
  const Value target = model.input("target", {1}), x = model.input("x", {1});
  model.output("y", model.add(x, x));
  model.loss(model.mse_loss(model.linear("fc", x, 1), target));
  TrainingModel training(model, {.batch_size = 4});
  InferenceModel inference(model, {.batch_size = 4});
  DataLoader data = loader({column(100), column(0)}),
             by_name = named({"x", "t"}, {column(0), column(100)}),
             behind = named({"a", "b", "x"}, {column(20), column(100), column(0)});
  for (DataLoader* of : {&data, &by_name, &behind}) {
    EXPECT_EQ(value_of(evaluate(inference, *of, {mean_of("y")}).values, "y"), 3);
    EXPECT_EQ(predict(inference, *of)[0].tensor.as<float>()[1], 2);
    const FitOptions options{
        .metrics = {mean_of("y")}, .validation_model = &inference, .validation_data = of};
    EXPECT_EQ(value_of(fit(training, data, options).epochs[0].values, "val_y"), 3);
  }
}

TEST(Fields, G5_OfOneNameAreRefused) {
  Model model("twice");
  const Value y = model.linear("fc", model.input("x", {1}), 1);
  model.loss(model.mse_loss(y, model.input("target", {1})));
  TrainingModel training(model, {.batch_size = 4});
  DataLoader data = named({"x", "target", "x"}, {column(0), column(0), column(0)});
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { fit(training, data); }),
            "fit: data: expected one field \"x\", got several");
}

TEST(Fields, G5_OfOneNameAreRefusedInEvaluationAndPredictionToo) {
  const Model model = sums();
  TrainingModel training(model, {.batch_size = 4});
  InferenceModel inference(model, {.batch_size = 4});
  DataLoader data = loader({column(0), column(10), column(20), column(100)});
  DataLoader twins = named({"a", "b", "b"}, {column(0), column(100), column(200)}),
             placed =
                 named({"", "", "more", "more"}, {column(0), column(10), column(20), column(100)});
  const FitOptions options{
      .metrics = {mean_of("y")}, .validation_model = &inference, .validation_data = &twins};
  const std::string text = ": expected one field \"b\", got several";
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { evaluate(inference, twins, {}); }),
            "evaluate: data" + text);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { predict(inference, twins); }),
            "predict: data" + text);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { fit(training, data, options); }),
            "fit: validation_data" + text);
  EXPECT_EQ(refusal(Errc::invalid_argument, [&] { evaluate(inference, placed, {}); }),
            "evaluate: data: expected one field \"more\", got several");
  EXPECT_EQ(training.updates(), 0U);
}

// Nobody asks for the fields named "target" by their name, so that two of them are no
// contradiction.
TEST(Fields, G5_OfOneNameAreAcceptedIfTheyAreNoInputs) {
  InferenceModel inference(sums(), {.batch_size = 4});
  DataLoader data =
      named({"b", "a", "target", "target"}, {column(100), column(0), column(10), column(20)});
  EXPECT_EQ(value_of(evaluate(inference, data, {mean_of("y")}).values, "y"), 103);
  EXPECT_EQ(predict(inference, data)[0].tensor.as<float>()[1], 102);
}

TEST(Fields, G5_MayBeginWithLabels) {
  Model model("labels first");
  const Value labels = model.labels();
  const Value y = model.linear("fc", model.input("x", {1}), 2);
  model.output("y", y);
  model.loss(model.cross_entropy(y, labels));
  TrainingModel training(model, {.batch_size = 4}, Sgd{.learning_rate = 0});
  InferenceModel inference(model, {.batch_size = 4});
  const std::int64_t classes[] = {0, 1, 1, 0};
  DataLoader data = loader({Tensor(Shape{4}, std::span(classes)), column(0)});
  const History history =
      fit(training, data,
          {.metrics = {mean_of("y")}, .validation_model = &inference, .validation_data = &data});
  EXPECT_EQ(value_of(history.epochs[0].values, "y"), value_of(history.epochs[0].values, "val_y"));
}

}  // namespace
}  // namespace penstock
