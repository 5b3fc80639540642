// These tests check what a model tells its host while it is compiled.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/small_models.hpp"

namespace penstock::testing {
namespace {

/// A Progress is what a listener was told of one compilation.
using Progress = std::vector<CompileProgress>;

void expect_all_steps(const Progress& progress, const CompileReport& report) {
  const std::vector<std::string> steps{"shapes",    "layouts", "gradients", "stages",
                                       "partition", "memory",  "report"};
  ASSERT_EQ(progress.size(), steps.size() + 2) << "the actors are started, and all is done";
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(progress[i].step, steps[i]);
    EXPECT_EQ(report.steps.at(i).name, steps[i]);
    EXPECT_DOUBLE_EQ(progress[i].done,
                     static_cast<double>(i) / static_cast<double>(steps.size() + 1));
  }
  EXPECT_EQ(progress[steps.size()].step, "start actors");
  EXPECT_EQ(progress.back().step, "");
  EXPECT_EQ(progress.back().done, 1);
}

TEST(Compilation, D16_TellsTheSameStepsWhateverIsCompiled) {
  Progress progress;
  Options options = options_for(2, 2, 1);
  options.runtime.compile_progress = [&](const CompileProgress& p) { progress.push_back(p); };
  const auto new_progress = [&] { return std::exchange(progress, {}); };
  const TrainingModel training(plain_model(), options);
  expect_all_steps(new_progress(), training.compile_report());
  const InferenceModel serving(plain_model(), options);
  expect_all_steps(new_progress(), serving.compile_report());
  options.topology.stages = {};
  options.topology.automatic_stages = 2;
  const TrainingModel automatic(plain_model(), options);
  expect_all_steps(new_progress(), automatic.compile_report());
}

TEST(Compilation, D16_IsGivenUpIfItsListenerThrows) {
  Options options = options_for(2, 2, 1);
  options.runtime.compile_progress = [](const CompileProgress&) { throw std::runtime_error("no"); };
  const Model model = plain_model();
  EXPECT_THROW(TrainingModel(model, options), std::runtime_error);
}

}  // namespace
}  // namespace penstock::testing
