// In these tests any one allocation of fit(), evaluate(), predict() or a function that asks a model
// something fails. The host gets an Error, and no other exception.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/fit.hpp"
#include "tests/engine/fit/scaling.hpp"
#include "tests/support/without_memory.hpp"

namespace penstock {
namespace {

using testing::call_without_memory;
using testing::CallOutcome;
using testing::per_step;
using testing::Scaling;

/// A Looped has models and data with which all loops can be called.
struct Looped {
  Scaling scaling;
  TrainingModel training{scaling.model, testing::options()};
  InferenceModel inference{scaling.model, testing::options()};
  DataLoader data = testing::numbers(2 * per_step), validation = testing::numbers(3, 3);
  const std::vector<Metric> metrics{mean_of("y"), perplexity("y")};
  const std::vector<Tensor> inputs{Tensor({3, 1}, {1, 2, 3})};
};

/// Makes `call` of new models once for each of its allocations, while that allocation fails.
/// Expects that `call` throws no other exception than an Error.
void expect_no_raw_exception(const std::string& name, const std::function<void(Looped&)>& call) {
  SCOPED_TRACE(name);
  testing::expect_only_lack_of_memory([&](std::int64_t number) {
    Looped looped;
    return call_without_memory(number, [&] { call(looped); });
  });
}

TEST(LoopsWithoutMemory, ThrowNoRawException) {
  expect_no_raw_exception("fit", [](Looped& l) {
    FitOptions options{.validation_model = &l.inference, .validation_data = &l.validation};
    fit(l.training, l.data, options);
  });
  expect_no_raw_exception("evaluate",
                          [](Looped& l) { evaluate(l.inference, l.validation, l.metrics); });
  expect_no_raw_exception("predict", [](Looped& l) { predict(l.inference, l.validation); });
  expect_no_raw_exception("predict arrays", [](Looped& l) { predict(l.inference, l.inputs); });
}

TEST(LoopsWithoutMemory, AreTheSameForWhatAModelIsAsked) {
  Looped l;
  const std::pair<std::string, std::function<void()>> calls[] = {
      {"TrainingModel::outline", [&] { static_cast<void>(l.training.outline()); }},
      {"InferenceModel::outline", [&] { static_cast<void>(l.inference.outline()); }},
      {"TrainingModel::check_samples", [&] { l.training.check_samples(0); }},
      {"InferenceModel::check_samples", [&] { l.inference.check_samples(0); }},
      {"optimizer", [&] { static_cast<void>(l.training.optimizer()); }},
      {"learning_rate", [&] { static_cast<void>(l.training.learning_rate()); }}};
  for (const auto& [name, call] : calls) testing::expect_no_raw_exception(name, call);
}

/// Makes `call` while allocation number `number` fails. Returns the text of an Error with another
/// code than out_of_memory, or an empty text if there was no such Error, and nothing if `call` has
/// no allocation of that number.
std::optional<std::string> refusal_without_memory(std::int64_t number,
                                                  const std::function<void()>& call) {
  std::string text;
  text.reserve(1000);
  const CallOutcome outcome = call_without_memory(number, [&] {
    try {
      call();
    } catch (const Error& error) {
      if (error.code() != Errc::out_of_memory) text = error.what();
      throw;
    }
  });
  return outcome.reached ? std::optional(text) : std::nullopt;
}

TEST(LoopsWithoutMemory, CallALackOfMemoryNoFaultOfTheData) {
  Options fixed = testing::options();
  fixed.static_shapes = true;
  const Scaling scaling;
  TrainingModel training(scaling.model, fixed);
  InferenceModel inference(scaling.model, fixed);
  DataLoader ragged = testing::numbers(2 * per_step + 1, per_step, false);
  const std::function<void()> calls[] = {[&] { fit(training, ragged); },
                                         [&] { predict(inference, ragged); }};
  for (const auto& call : calls) {
    std::int64_t number = 1;
    while (const auto text = refusal_without_memory(number++, call))
      EXPECT_EQ(text->find("memory"), std::string::npos) << *text;
    EXPECT_GT(number, 10);
  }
}

/// Returns options with a log that takes every line.
Options options_with_log() {
  Options options = testing::options();
  options.runtime.log = [](std::string_view) {};
  options.runtime.log_level = LogLevel::debug;
  return options;
}

TEST(LoopsWithoutMemory, AreTheSameForConstructorsThatTellALog) {
  const Scaling scaling;
  const Options options = options_with_log();
  const Optimizer optimizer;
  testing::expect_no_raw_exception("training",
                                   [&] { TrainingModel(scaling.model, options, optimizer); });
  testing::expect_no_raw_exception("inference", [&] { InferenceModel(scaling.model, options); });
}

}  // namespace
}  // namespace penstock
