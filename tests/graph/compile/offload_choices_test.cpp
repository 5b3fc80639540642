#include "graph/compile/offload_choices.hpp"
#include "graph/plan/schedules/schedules.hpp"

#include <gtest/gtest.h>

#include "graph/compile/compile.hpp"
#include "tests/support/model_builder.hpp"

namespace penstock::graph {
namespace {

using Names = std::vector<std::string>;

constexpr Offload on{.on = true};

Names names(const OffloadOptions& offload, bool training) {
  Names result;
  for (const OffloadChoice& choice : offload_choices(offload, training))
    result.push_back(choice.name);
  return result;
}

TEST(OffloadChoices, AreTheClassesThatAreNotOnAndAllOfThemTogether) {
  EXPECT_EQ(names({.optimizer_state = on, .weights = on}, true),
            (Names{"the gradient sums in the host store (options.training.offload.accumulators)",
                   "the activations in the host store (options.training.offload.activations)",
                   "the gradient sums and the activations in the host store "
                   "(options.training.offload.accumulators, "
                   "options.training.offload.activations)"}));
  EXPECT_EQ(names({}, true).size(), 15u);
  EXPECT_EQ(names({}, false),
            Names{"the weights in the host store (options.training.offload.weights)"});
  EXPECT_EQ(names({.weights = on}, false), Names{});
  EXPECT_EQ(offload_choices({}, false, true).at(0).name,
            "the weights in the host store (not options.topology.phased.on_ipu.weights)");
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

Names warnings(const OffloadOptions& offload, bool training = true, std::int32_t kept = 1,
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
  return compile(model.graph(), request).report.warnings;
}

TEST(IdleOffload, IsNotedWhereEveryTensorIsTooSmall) {
  const Offload weight{.on = true, .minimum_bytes = 6 * 6 * 4};
  const Offload more{.on = true, .minimum_bytes = weight.minimum_bytes + 1};
  EXPECT_EQ(warnings({.optimizer_state = weight, .accumulators = weight, .weights = weight}),
            Names{});
  const auto note = [](const std::string& name, int bytes, int largest) {
    return "options.training.offload." + name +
           ".minimum_bytes: nothing is kept in the host store: no tensor has " +
           std::to_string(bytes) + " bytes, the largest has " + std::to_string(largest);
  };
  EXPECT_EQ(warnings({more, more, more, more}),
            (Names{note("optimizer_state", 145, 144), note("accumulators", 145, 144),
                   note("activations", 145, 72), note("weights", 145, 144)}));
  EXPECT_EQ(warnings({.activations = {.on = true, .minimum_bytes = 72}}), Names{});
  EXPECT_EQ(warnings({more, more, more, more}, false), Names{note("weights", 145, 144)});
}

TEST(IdleOffload, IsNotedWhereTheOptimizerKeepsNoState) {
  const OffloadOptions state{.optimizer_state = on};
  EXPECT_EQ(warnings(state, true, 0),
            Names{"options.training.offload.optimizer_state: the optimizer keeps no state, and "
                  "nothing is kept in the host store"});
  EXPECT_EQ(warnings(state, true, 1), Names{});
  EXPECT_EQ(warnings(state, false, 0), Names{});
  EXPECT_EQ(warnings(state, true, 0, PhaseRequest{}), Names{}) << "phases turn it on";
}

}  // namespace
}  // namespace penstock::graph
