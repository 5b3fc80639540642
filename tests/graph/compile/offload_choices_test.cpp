#include "graph/compile/offload_choices.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock::graph {
namespace {

constexpr Offload on{.on = true};

/// Returns the remedies as texts. Behind the text of a remedy come the numbers of the options that
/// the remedy turns on, and then, with a minus, the numbers of the options that it turns off.
std::vector<std::string> remedies(const OffloadOptions& offload, bool training,
                                  bool phased = false) {
  const auto numbers = [](const std::vector<Option>& options, const std::string& before) {
    std::string text;
    for (const Option option : options) text += before + std::to_string(static_cast<int>(option));
    return text;
  };
  std::vector<std::string> result;
  for (const OffloadChoice& choice : offload_choices(offload, training, phased))
    result.push_back(choice.remedy.text + numbers(choice.remedy.turned_on, " ") +
                     numbers(choice.remedy.turned_off, " -"));
  return result;
}

std::string number(Option option) {
  return std::to_string(static_cast<int>(option));
}

TEST(OffloadChoices, AreTheClassesThatAreNotOnAndAllOfThemTogether) {
  const std::string sums = number(Option::offload_accumulators),
                    activations = number(Option::offload_activations),
                    weights = number(Option::offload_weights);
  EXPECT_EQ(remedies({.optimizer_state = on, .weights = on}, true),
            (std::vector<std::string>{"the gradient sums in the host store " + sums,
                                      "the activations in the host store " + activations,
                                      "the gradient sums and the activations in the host store " +
                                          sums + " " + activations}));
  EXPECT_EQ(remedies({}, true).size(), 15u);
  EXPECT_EQ(remedies({}, false), std::vector{"the weights in the host store " + weights});
  EXPECT_EQ(remedies({.weights = on}, false), std::vector<std::string>{});
  EXPECT_EQ(remedies({}, false, true),
            std::vector{"the weights in the host store -" + number(Option::weights_on_ipu)});
}

TEST(OffloadChoices, KeepTheMinimumOfEachClass) {
  const OffloadOptions offload{.activations = {.minimum_bytes = 77}};
  int classes = 1;
  for (const OffloadChoice& choice : offload_choices(offload, true)) {
    EXPECT_EQ(choice.offload.activations.minimum_bytes, 77);
    EXPECT_EQ(choice.classes, choice.offload.optimizer_state.on + choice.offload.accumulators.on +
                                  choice.offload.activations.on + choice.offload.weights.on);
    EXPECT_GE(choice.classes, classes) << "small sets first";
    classes = choice.classes;
  }
  EXPECT_EQ(classes, 4);
}

}  // namespace
}  // namespace penstock::graph
