// These tests make calls that have to do with several models. They check for which calls the lines
// of a log then wait, and from which calls the exceptions of a log come.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "penstock/penstock.hpp"
#include "tests/engine/short_call_models.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::testing {
namespace {

/// A Notes keeps the lines that a log is told, and the thread of each line. The log throws if
/// `throws` is true.
struct Notes {
  Options options() {
    Options options = with_limit(0);
    options.runtime.log_level = LogLevel::debug;
    options.runtime.log = [this](std::string_view line) {
      lines.emplace_back(line);
      threads.push_back(std::this_thread::get_id());
      if (throws) throw std::runtime_error("of the log");
    };
    return options;
  }
  /// Returns whether a line has said that weights were read back.
  bool has_read_back() const {
    return std::ranges::any_of(lines, [](const std::string& line) {
      return line.find("weights read back") != std::string::npos;
    });
  }

  std::vector<std::string> lines = {};
  std::vector<std::thread::id> threads = {};
  bool throws = false;
};

/// Calls `act` inside a call of `model` that adds a layer.
void inside_a_call_of(const Model& model, const std::function<void()>& act) {
  Model same = model;
  Sequential chain(same, same.input("of chain", {2}));
  chain.add([&](Model&, Value x) {
    act();
    return x;
  });
}

TEST(LogsOfSeveralModels, D14_AreToldAtTheEndOfTheirOwnModelsCalls) {
  Notes notes;
  TrainingModel training(network(), notes.options());
  inside_a_call_of(network(), [&] {
    const std::size_t before = notes.lines.size();
    training.step(samples(full));
    const std::size_t after = notes.lines.size();
    EXPECT_GT(after, before) << "the lines wait for a call of another Model";
    std::thread::id other;
    std::thread([&] {
      other = std::this_thread::get_id();
      training.step(samples(full));
    }).join();
    EXPECT_GT(notes.lines.size(), after);
    for (std::size_t i = 0; i < notes.lines.size(); ++i)
      EXPECT_EQ(notes.threads[i], i < after ? std::this_thread::get_id() : other);
  });
}

TEST(LogsOfSeveralModels, D14_PassExceptionsToTheirOwnCallsInsideOneOfAnotherModel) {
  Notes notes;
  TrainingModel training(network(), notes.options());
  notes.throws = true;
  inside_a_call_of(network(),
                   [&] { EXPECT_THROW(training.step(samples(full)), std::runtime_error); });
}

TEST(LogsOfSeveralModels, D14_AreToldOfModelsThatLiveOnlyInsideACallOfAnotherOne) {
  Notes notes;
  inside_a_call_of(network(), [&] {
    const Model model = network();
    {
      TrainingModel training(model, notes.options());
      training.step(samples(full));
      model.weight("fc.weight");
    }
    EXPECT_TRUE(notes.has_read_back());
  });
}

TEST(LogsOfSeveralModels, D14_AreToldOfModelsThatEndInsideACallOfTheSameModel) {
  for (const bool throws : {false, true}) {
    Notes notes;
    const Model model = network();
    std::optional<TrainingModel> training(std::in_place, model, notes.options());
    training->step(samples(full));
    notes.throws = throws;
    const auto call = [&] {
      inside_a_call_of(model, [&] {
        model.weight("fc.weight");
        training.reset();
        EXPECT_FALSE(notes.has_read_back()) << "the call is not done";
      });
    };
    if (throws)
      EXPECT_THROW(call(), std::runtime_error);
    else
      call();
    EXPECT_TRUE(notes.has_read_back());
  }
}

// A run of inference reads the weights from the training model, whose log is told so.
TEST(LogsOfSeveralModels, D14_TakeNoResultFromACallOfAnotherModel) {
  for (const bool logs : {false, true}) {
    Notes of_training, of_serving;
    const Model model = network();
    TrainingModel training(model, of_training.options());
    InferenceModel serving(model, logs ? of_serving.options() : with_limit(0));
    const Tensor before = serving.run(samples(full)).outputs.at(0).tensor;
    training.step(samples(full));
    of_training.throws = true;
    of_training.lines.clear();
    const Tensor after = serving.run(samples(full)).outputs.at(0).tensor;
    EXPECT_FALSE(same_bits(before, after));
    EXPECT_TRUE(of_training.has_read_back());
    EXPECT_THROW(training.step(samples(full)), std::runtime_error) << "this is its own call";
    of_serving.throws = logs;
    EXPECT_EQ(training.updates(), 2U);
    if (!logs) continue;
    EXPECT_THROW(serving.run(samples(full)), std::runtime_error);
  }
}

TEST(LogsOfSeveralModels, D14_PassTheirExceptionsToTheModelsOwnCalls) {
  Notes notes;
  const Model model = network();
  TrainingModel training(model, notes.options());
  training.step(samples(full));
  notes.throws = true;
  EXPECT_THROW(model.weight("fc.weight"), std::runtime_error);
  EXPECT_TRUE(model.weight("fc.weight")) << "they have been read, and nothing is told any more";
}

}  // namespace
}  // namespace penstock::testing
