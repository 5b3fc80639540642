// In these tests any one allocation of a call fails on the host's thread. The call then says that
// there is no memory, nothing is lost, and the same call works once there is memory.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "engine/model/model_access.hpp"
#include "penstock/error.hpp"
#include "penstock/model.hpp"
#include "penstock/training_model.hpp"
#include "tests/engine/everything_trained.hpp"
#include "tests/engine/small_models.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/temporary_directory.hpp"

namespace penstock::testing {
namespace {

/// A Trained is a model that has been trained, and whose newest weights are on the IPUs. The newest
/// state of the optimizer is there, too: the plan for full steps holds it or, if the last step was
/// a short one, the plan for short steps.
struct Trained {
  explicit Trained(bool ends_with_a_short_step = false) {
    step();
    if (ends_with_a_short_step) training.step(samples(2, true));
  }
  void step() { training.step(samples(4, true)); }

  Model model = tied_model();
  TrainingModel training{model, options_for(2, 2, 1), AdamW{.learning_rate = 0.1}};
};

/// Trains `trained` for a further step, and returns its weights, its buffers and the optimizer's
/// state. Any call may have come before.
TensorsByName all_of(Trained& trained) {
  trained.step();
  return everything_trained(trained.model, trained.training);
}

/// Makes `call` of newly trained models, for each of its allocations with that allocation failing,
/// and then again with none failing. Expects that nothing is lost.
void expect_nothing_lost(const std::string& name, const std::function<void(Trained&)>& call,
                         bool after_a_short_step) {
  SCOPED_TRACE(name + (after_a_short_step ? " after a short step" : ""));
  Trained undisturbed(after_a_short_step);
  call(undisturbed);
  const auto expected = all_of(undisturbed);
  std::int64_t refusals = 0;
  for (std::int64_t number = 1;; ++number) {
    SCOPED_TRACE("allocation " + std::to_string(number));
    Trained disturbed(after_a_short_step);
    bool reached = false, refused = false;
    {
      const AllocationFailures failures(number, 1, FailsOn::this_thread);
      try {
        call(disturbed);
      } catch (const Error& error) {
        refused = true;
        EXPECT_EQ(error.code(), Errc::out_of_memory) << error.what();
      }
      reached = failures.reached();
    }
    if (refused) {
      ++refusals;
      ASSERT_NO_THROW(call(disturbed));
    }
    ASSERT_EQ(first_difference(all_of(disturbed), expected), "");
    if (!reached) break;
    ASSERT_LT(number, 20000);
  }
  EXPECT_GE(refusals, 1);
}

void expect_nothing_lost(const std::string& name, const std::function<void(Trained&)>& call) {
  for (const bool after_a_short_step : {false, true})
    expect_nothing_lost(name, call, after_a_short_step);
}

TEST(AllocationFailures, OfReadingWeightsLoseNothing) {
  const TemporaryDirectory directory;
  const std::string path = directory / "weights";
  expect_nothing_lost("weight", [](Trained& t) { t.model.weight("fc.weight"); });
  expect_nothing_lost("save", [&](Trained& t) { t.model.save_weights(path); });
  expect_nothing_lost("clone", [](Trained& t) { t.model.clone(); });
}

TEST(AllocationFailures, OfWritingWeightsLoseNothing) {
  const TemporaryDirectory directory;
  const std::string path = directory / "weights";
  tied_model().save_weights(path);
  const Tensor bias = Tensor::zeros(DType::f32, {4});
  expect_nothing_lost("set_weight", [&](Trained& t) { t.model.set_weight("fc.bias", bias); });
  expect_nothing_lost("load", [&](Trained& t) { t.model.load_weights(path); });
}

TEST(AllocationFailures, OfTheOptimizersStateLoseNothing) {
  const TemporaryDirectory directory;
  const std::string path = directory / "state";
  Trained other;
  other.step();
  const auto state = other.training.optimizer_state();
  other.training.save_optimizer_state(path);
  const std::string written = directory / "written";
  expect_nothing_lost("read", [](Trained& t) { t.training.optimizer_state(); });
  expect_nothing_lost("write", [&](Trained& t) { t.training.set_optimizer_state(state); });
  expect_nothing_lost("save", [&](Trained& t) { t.training.save_optimizer_state(written); });
  expect_nothing_lost("load", [&](Trained& t) { t.training.load_optimizer_state(path); });
}

TEST(AllocationFailures, OfOtherConstantsOfTheOptimizerLoseNothing) {
  const Optimizer optimizer = AdamW{.learning_rate = 0.01};
  expect_nothing_lost("set_optimizer", [&](Trained& t) { t.training.set_optimizer(optimizer); });
}

TEST(AllocationFailures, OfLeavingTheIpusLoseNothing) {
  expect_nothing_lost("detach", [](Trained& t) {
    if (t.training.attached()) t.training.detach();
  });
}

TEST(AllocationFailures, OfReadingABufferLoseNothing) {
  const std::string name = "norm.running_mean";  // The name is allocated before allocations fail.
  expect_nothing_lost("buffer", [&](Trained& t) { t.training.buffer(name, 0); });
}

/// Returns the name of the block that the layer called `name` is in, or "none".
std::string block_of(const Model& model, const std::string& name) {
  const graph::Graph& graph = ModelAccess::graph(model);
  for (const graph::Node& node : graph.nodes)
    if (node.name == name && node.block != graph::none)
      return graph.blocks[graph::index(node.block)].name;
  return "none";
}

/// Opens a block while allocation number `number` fails. If the block is refused for that, a layer
/// that is added next must be in no block, and the next attempt must open `block`. Returns whether
/// the block was refused.
bool is_closed_if_refused(const std::function<BlockScope(Model&)>& open, const std::string& block,
                          std::int64_t number) {
  Model model;
  const Value x = model.input("x", {4});
  try {
    const AllocationFailures failures(number, 1, FailsOn::this_thread);
    open(model);
    return false;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::out_of_memory);
    model.linear("outside", x, 4);
    EXPECT_EQ(block_of(model, "outside"), "none");
  }
  const BlockScope scope = open(model);
  model.linear("inside", x, 4);
  EXPECT_EQ(block_of(model, "inside"), block);
  return true;
}

TEST(AllocationFailures, OfOpeningABlockLeaveItClosed) {
  const std::string name = "a name that is too long for a string without memory of its own";
  const std::map<std::string, std::function<BlockScope(Model&)>> ways{
      {"0", [](Model& model) { return model.block(); }},
      {name, [&](Model& model) { return model.block(name, 3); }},
      {"stage 1", [](Model& model) { return model.pipeline_stage(1); }}};
  for (const auto& [block, open] : ways) {
    SCOPED_TRACE(block);
    std::int64_t refused = 0;
    while (is_closed_if_refused(open, block, refused + 1)) ++refused;
    EXPECT_GE(refused, 2);
  }
}

}  // namespace
}  // namespace penstock::testing
