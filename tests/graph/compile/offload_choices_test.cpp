#include "graph/compile/offload_choices.hpp"
#include "graph/plan/schedules/schedules.hpp"

#include <gtest/gtest.h>

#include "graph/compile/compile.hpp"
#include "tests/support/model_builder.hpp"

namespace penstock::graph {
namespace {

constexpr Offload on{.on = true};

/// Returns the remedies as texts, with the numbers of their options: those that are turned on, and
/// after a minus, those that are turned off.
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

using Notes = std::vector<Note>;

Notes notes(const OffloadOptions& offload, bool training = true, std::int32_t kept = 1,
            std::optional<PhaseRequest> phased = {}) {
  testing::ModelBuilder model;
  const ValueId x = model.apply("tanh", {model.linear("fc", model.input("x", {6}), 6)}, {}, "y");
  model.output("y", x);
  model.loss(model.apply("mse_loss", {x, model.input("target", {6})}, {}, "loss"));
  CompileRequest request{
      .training = training, .batch = 3, .phased = std::move(phased), .offload = offload};
  if (request.phased) request.schedule = &find_schedule("sequential");
  request.memory.offload_state = offload.optimizer_state;
  request.memory.state = [=](const std::string&) { return KeptState{.tensors = kept}; };
  return compile(model.graph(), request).notes;
}

TEST(IdleOffload, IsNotedWhereEveryTensorIsTooSmall) {
  const Offload weight{.on = true, .minimum_bytes = 6 * 6 * 4};
  const Offload more{.on = true, .minimum_bytes = weight.minimum_bytes + 1};
  EXPECT_EQ(notes({.optimizer_state = weight, .accumulators = weight, .weights = weight}), Notes{});
  const auto note = [](Option about, int bytes, int largest) {
    return Note{about, "nothing is kept in the host store: no tensor has " + std::to_string(bytes) +
                           " bytes, the largest has " + std::to_string(largest)};
  };
  EXPECT_EQ(notes({more, more, more, more}),
            (Notes{note(Option::least_offloaded_optimizer_state, 145, 144),
                   note(Option::least_offloaded_accumulators, 145, 144),
                   note(Option::least_offloaded_activations, 145, 72),
                   note(Option::least_offloaded_weights, 145, 144)}));
  EXPECT_EQ(notes({.activations = {.on = true, .minimum_bytes = 72}}), Notes{});
  EXPECT_EQ(notes({more, more, more, more}, false),
            Notes{note(Option::least_offloaded_weights, 145, 144)});
}

TEST(IdleOffload, IsNotedWhereTheOptimizerKeepsNoState) {
  const OffloadOptions state{.optimizer_state = on};
  EXPECT_EQ(notes(state, true, 0),
            (Notes{{Option::offload_optimizer_state,
                    "the optimizer keeps no state, and nothing is kept in the host store"}}));
  EXPECT_EQ(notes(state, true, 1), Notes{});
  EXPECT_EQ(notes(state, false, 0), Notes{});
  EXPECT_EQ(notes(state, true, 0, PhaseRequest{}), Notes{}) << "phases turn it on";
}

}  // namespace
}  // namespace penstock::graph
