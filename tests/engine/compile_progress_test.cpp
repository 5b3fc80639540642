// What a model tells while it is compiled.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "penstock/inference_model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/small_models.hpp"

namespace penstock::testing {
namespace {

TEST(Compilation, D16_TellsItsPhasesAndHowManyAreOver) {
  Options options = options_for(2, 2, 1);
  std::vector<CompileProgress> told;
  options.runtime.compile_progress = [&](const CompileProgress& p) { told.push_back(p); };
  const TrainingModel training(plain_model(), options);
  const auto& phases = training.compile_report().phases;
  ASSERT_EQ(told.size(), phases.size() + 1);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    EXPECT_EQ(told[i].phase, phases[i].name);
    EXPECT_DOUBLE_EQ(told[i].done, static_cast<double>(i) / static_cast<double>(phases.size()));
  }
  EXPECT_EQ(told.back().phase, "");
  EXPECT_EQ(told.back().done, 1);
  told.clear();
  const InferenceModel serving(plain_model(), options);
  ASSERT_EQ(told.size(), serving.compile_report().phases.size() + 1);
  EXPECT_EQ(told.back().done, 1);
}

TEST(Compilation, D16_IsGivenUpIfItsListenerThrows) {
  Options options = options_for(2, 2, 1);
  options.runtime.compile_progress = [](const CompileProgress&) { throw std::runtime_error("no"); };
  const Model model = plain_model();
  EXPECT_THROW(TrainingModel(model, options), std::runtime_error);
}

}  // namespace
}  // namespace penstock::testing
