// A label or an id that is no number of a class or row is refused before a call begins. The model
// goes on as if that call had never been made.
#include <gtest/gtest.h>

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "penstock/data_loader.hpp"
#include "penstock/fit.hpp"
#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/same_weights.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/engine/unchecked_indices.hpp"
#include "tests/support/random_tensor.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

/// Returns `tensors` with element `position` of the i64 tensor number `number` set to `element`.
std::vector<Tensor> spoilt(std::vector<Tensor> tensors, std::size_t number, std::size_t position,
                           std::int64_t element) {
  const auto elements = tensors[number].as<std::int64_t>();
  std::vector<std::int64_t> changed(elements.begin(), elements.end());
  changed[position] = element;
  tensors[number] = Tensor(tensors[number].shape(), changed);
  return tensors;
}

Options two_replicas() {
  Options options = options_for(2, 2, 2);
  options.topology.replication_factor = 2;
  return options;
}

// A label is bad in the first or last micro-batch of a full call, in the part of a longer call that
// a plan for short calls would run, and in a call that only such a plan would run.
TEST(IndexChecks, RefuseAStepBeforeItBegins) {
  const Model model = plain_model(), undisturbed = plain_model();
  const AdamW rule{.learning_rate = 0.1};
  TrainingModel training(model, two_replicas(), rule);
  TrainingModel other(undisturbed, two_replicas(), rule);
  for (const std::int64_t count : {16, 11, 3}) {
    training.step(samples(count, false));
    other.step(samples(count, false));
    for (const std::int64_t bad : {std::int64_t{0}, count - 1})
      EXPECT_EQ(refusal(Errc::invalid_data,
                        [&] {
                          training.step(
                              spoilt(samples(count, false), 1, static_cast<std::size_t>(bad), 4));
                        }),
                "model \"plain\": input \"labels\": label 4 at sample " + std::to_string(bad) +
                    " of the step: expected 0 to 3, or -100, which is left out");
    EXPECT_EQ(training.updates(), other.updates());
  }
  training.step(spoilt(samples(16, false), 1, 5, -100));
  other.step(spoilt(samples(16, false), 1, 5, -100));
  expect_same_weights(model, undisturbed);
}

TEST(IndexChecks, RefuseIdsOfPositions) {
  constexpr std::int64_t rows = 5, steps = 3;
  Model model("m", 3);
  const Value ids = model.input("ids", {steps}, DType::i64);
  const Value y = model.embedding("table", ids, rows, 4);
  model.output("y", y);
  model.loss(model.mse_loss(y, model.input("target", {steps, 4})));
  const std::vector<Tensor> fine{labels({4, steps}, 1, rows), uniform({4, steps, 4}, 2)};
  const auto expected = [](const std::string& call) {
    return "model \"m\": input \"ids\": id 5 at sample 2 of the " + call + ": expected 0 to 4";
  };
  TrainingModel training(model, {.batch_size = 2, .device_iterations = 2}, Sgd{});
  EXPECT_EQ(refusal(Errc::invalid_data, [&] { training.step(spoilt(fine, 0, 2 * steps + 1, 5)); }),
            expected("step"));
  EXPECT_EQ(training.step(fine).rows.micro_batches.count, 1);
  InferenceModel serving(model, {.batch_size = 2, .device_iterations = 2});
  EXPECT_EQ(
      refusal(Errc::invalid_data, [&] { serving.run({spoilt(fine, 0, 2 * steps + 1, 5)[0]}); }),
      expected("run"));
  EXPECT_EQ(serving.run({fine[0]}).output("y").shape(), (Shape{4, steps, 4}));
}

// A model whose loss is an output needs labels in inference, too. An evaluation has the code of the
// refused run, and the next one goes on.
TEST(IndexChecks, RefuseLabelsOfPositionsInAnEvaluation) {
  constexpr std::int64_t classes = 3, positions = 4, count = 4;
  Model model("m", 3);
  const Value scores = model.reshape(model.linear("fc", model.input("x", {2}), classes * positions),
                                     {classes, positions});
  const Value loss = model.cross_entropy(scores, model.input("labels", {positions}, DType::i64));
  model.output("loss", loss);
  model.loss(loss);
  InferenceModel serving(model, {.batch_size = 2, .device_iterations = 2});
  const std::vector<Tensor> fine{uniform({count, 2}, 1), labels({count, positions}, 2, classes)};
  const auto evaluated = [&](const std::vector<Tensor>& samples) {
    DataLoader data(tensor_dataset(samples), count);
    return evaluate(serving, data, {mean_of("loss")}).samples;
  };
  EXPECT_EQ(
      refusal(Errc::invalid_data, [&] { evaluated(spoilt(fine, 1, 3 * positions + 1, classes)); }),
      "model \"m\": input \"labels\": label 3 at sample 3 of the run: expected 0 to 2, or "
      "-100, which is left out");
  EXPECT_EQ(evaluated(fine), count);
}

// A plan from the cache has the ranges, too.
TEST(IndexChecks, AreThoseOfAPlanFromTheCacheToo) {
  const TemporaryDirectory directory;
  Options options = two_replicas();
  options.runtime.cache_directory = directory.path().string();
  for (const bool from_cache : {false, true}) {
    TrainingModel training(plain_model(), options, Sgd{});
    EXPECT_EQ(training.compile_report().from_cache, from_cache);
    EXPECT_NE(
        refusal(Errc::invalid_data, [&] { training.step(spoilt(samples(16, false), 1, 2, 4)); }),
        "accepted");
    training.step(samples(16, false));
  }
}

TEST(IndexChecks, ComeAfterTheRefusalsOfAModelThatCannotGoOnAndOfACallThatWasStopped) {
  TrainingModel training(without_checked_indices(plain_model()), two_replicas(), Sgd{});
  EXPECT_NE(
      refusal(Errc::stage_failed, [&] { training.step(spoilt(samples(16, false), 1, 2, 4)); }),
      "accepted");
  TrainingModel other(plain_model(), two_replicas(), Sgd{});
  std::stop_source stop;
  stop.request_stop();
  EXPECT_NE(refusal(Errc::cancelled,
                    [&] { other.step(spoilt(samples(16, false), 1, 2, 4), stop.get_token()); }),
            "accepted");
}

// Two losses read one input. The narrower range counts, and a class that one loss leaves out is a
// class like any other for the other loss.
TEST(IndexChecks, TakeWhatAllReadersOfAnInputTake) {
  Model model("m", 3);
  const Value x = model.input("x", {4}), labels = model.labels();
  const Value wide = model.cross_entropy(model.linear("wide", x, 6), labels);
  const Value narrow =
      model.cross_entropy(model.linear("narrow", x, 3), labels, {.ignore_index = 5});
  model.output("narrow", narrow);
  model.loss(wide);
  TrainingModel training(model, {.batch_size = 2}, Sgd{});
  const auto refused = [&](std::int64_t label) {
    return refusal(Errc::invalid_data, [&] {
      training.step({uniform({2, 4}, 1), Tensor({2}, std::vector<std::int64_t>{0, label})});
    });
  };
  for (const std::int64_t label : {0, 2, 5}) EXPECT_EQ(refused(label), "accepted") << label;
  const std::string who = "model \"m\": input \"labels\": label ";
  EXPECT_EQ(refused(3),
            who + "3 at sample 1 of the step: expected 0 to 2, or 5, which is left out");
  EXPECT_EQ(refused(6),
            who + "6 at sample 1 of the step: expected 0 to 5, or -100, which is left out");
}

}  // namespace
}  // namespace penstock::testing
