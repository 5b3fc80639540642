// In these tests, ops and optimizer rules throw. The host's call has to fail and say why, and the
// weights of the last update have to be there still.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/actors/pipeline/undisturbed_weights.hpp"
#include "tests/actors/pipeline/update_hook.hpp"
#include "tests/support/deterministic_run.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/small_cast.hpp"

namespace penstock::actors {
namespace {

using testing::DeterministicRun;
using testing::hooked;
using testing::ProbeHook;
using testing::ProbeRun;
using testing::refusal;
using testing::same_bits;
using testing::SmallCast;
using testing::SmallEngine;
using testing::SmallEngineOptions;
using testing::UpdateHook;
using testing::weights_after;
using testing::windows;

/// A Fault says where an op throws.
struct Fault {
  std::int64_t stage;
  Direction direction;
  std::uint64_t update;
  std::uint32_t micro_batch;  // This is the micro-batch's number within the window.
  std::uint32_t replica;
};

void throw_at(const Fault& fault, const ProbeRun& run) {
  if (run.stage == fault.stage && run.direction == fault.direction &&
      run.key.update == fault.update && run.key.micro_batch == fault.micro_batch &&
      run.key.replica == fault.replica)
    throw std::runtime_error("no luck");
}

std::string text_of(const Fault& fault, const SmallEngine& engine) {
  const std::string stage = std::to_string(fault.stage);
  const bool forward = fault.direction == Direction::forward;
  const auto number = static_cast<std::int64_t>(fault.update) * engine.micro_batches(1) +
                      static_cast<std::int64_t>(fault.micro_batch);
  return stage_name(engine.setup(), fault.replica, static_cast<std::size_t>(fault.stage)) + ", " +
         std::string(to_string(fault.direction)) + " of micro-batch " + std::to_string(number) +
         ": " + (forward ? "probe \"probe" + stage + "\"" : "probe_gradient \"");
}

/// Trains until the call fails by `fault`, and checks that `weights` can still be read from the
/// model.
void expect_failure(const SmallEngineOptions& options, const Fault& fault, std::uint64_t seed,
                    const std::vector<Tensor>& weights) {
  const ProbeHook hook([&](const ProbeRun& run) { throw_at(fault, run); });
  SmallEngine engine(options);
  PipelineRuntime& runtime = engine.runtime();
  engine.begin(windows);
  ASSERT_TRUE(
      DeterministicRun(runtime.system(), seed).run_until([&] { return runtime.answered(); }));
  const std::string text = refusal(Errc::stage_failed, [&] { runtime.finish_step(); });
  EXPECT_EQ(text.find(text_of(fault, engine)), 0u) << text;
  EXPECT_NE(text.find("no luck"), std::string::npos) << text;
  EXPECT_EQ(refusal(Errc::closed, [&] { engine.step(1); }),
            "the model has failed before and cannot go on: " + text);
  for (int read = 0; read < 2; ++read) EXPECT_TRUE(same_bits(runtime.read_variables(), weights));
  EXPECT_TRUE(runtime.can_be_replaced());
  EXPECT_EQ(runtime.read_optimizer().updates, static_cast<std::int64_t>(fault.update));
}

TEST(PipelineFailure, OfAnOpReachesTheCallAndLeavesTheWeightsOfTheLastUpdate) {
  for (const std::int64_t replicas : {1, 2})
    for (const double max_grad_norm : {0.0, 0.05})
      for (std::uint64_t update = 0; update < windows; ++update) {
        const auto weights =
            weights_after(static_cast<std::int64_t>(update), replicas, max_grad_norm);
        const SmallEngineOptions options{
            .replicas = replicas, .max_grad_norm = max_grad_norm, .offload = update == 1};
        for (std::uint64_t seed = 0; seed < 48; ++seed) {
          const Fault fault{.stage = static_cast<std::int64_t>(seed % 4),
                            .direction = seed / 4 % 2 ? Direction::backward : Direction::forward,
                            .update = update,
                            .micro_batch = seed / 8 % 2 ? 5u : 0u,
                            .replica = static_cast<std::uint32_t>(replicas - 1)};
          SCOPED_TRACE("seed " + std::to_string(seed) + ", update " + std::to_string(update));
          expect_failure(options, fault, seed, weights);
        }
      }
}

SmallEngineOptions offloaded_in_phases(const graph::PhaseRequest& request) {
  SmallEngineOptions options;
  options.schedule = "sequential";
  options.phased = request;
  options.offload = true;
  return options;
}

const graph::PhaseRequest phases[] = {{},
                                      {.turn = 8},
                                      {.separate_backward = true, .turn = 8},
                                      {.stages = {2, 2}, .turn = 8},
                                      {.parallel = true, .turn = 8}};

// 3.7: the turns of the phases are for a micro-batch or for a window, and every class of tensors is
// in the host store.
TEST(PipelineFailure, OfAnOpInPhasesLeavesTheWeightsOfTheLastUpdateToo) {
  for (std::uint64_t update = 0; update < windows; ++update) {
    const auto weights = weights_after(static_cast<std::int64_t>(update), 1, 0);
    for (const graph::PhaseRequest& request : phases)
      for (std::uint64_t seed = 0; seed < 16; ++seed) {
        const Fault fault{.stage = static_cast<std::int64_t>(seed % 4),
                          .direction = seed / 4 % 2 ? Direction::backward : Direction::forward,
                          .update = update,
                          .micro_batch = seed / 8 % 2 ? 5u : 0u,
                          .replica = 0};
        SCOPED_TRACE("seed " + std::to_string(seed) + ", update " + std::to_string(update));
        expect_failure(offloaded_in_phases(request), fault, seed, weights);
      }
  }
}

TEST(PipelineFailure, LetsNoFurtherUpdateBegin) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SmallCast cast;
    cast.begin_windows(windows);
    DeterministicRun order(cast.system(), seed);
    order.steps(2 * seed);
    cast.host().failure.fail({Errc::internal, "for a reason outside the pipeline"});
    order.run();
    EXPECT_TRUE(same_bits(cast.variables_after_end(), cast.first_variables()));
  }
}

TEST(PipelineFailure, LetsAnUpdateEndThatHasBegun) {
  SmallEngine undisturbed({.schedule = "sequential", .own_rule = &hooked});
  undisturbed.step(1);
  const auto after_one_update = undisturbed.runtime().read_variables();

  // Stages update one after another: when stage 1 begins its update, stages 2 and 3 have not yet
  // begun theirs.
  SmallCast cast({.schedule = "sequential", .own_rule = &hooked});
  {
    const UpdateHook hook([&](double stage) {
      if (stage == 1)
        cast.host().failure.fail({Errc::internal, "for a reason outside the pipeline"});
    });
    cast.begin_windows(windows);
    cast.system().run_pending();
  }
  EXPECT_TRUE(same_bits(cast.variables_after_end(), after_one_update));
}

TEST(PipelineFailure, OfOneEngineLeavesOthersAlone) {
  const ProbeHook hook([](const ProbeRun& run) {
    if (run.key.seed == 13) throw 13;  // An int is not even a std::exception.
  });
  SmallEngine well({.threads = 1, .deterministic = false});
  {
    SmallEngine broken({.threads = 1, .deterministic = false, .seed = 13});
    EXPECT_NE(refusal(Errc::stage_failed, [&] { broken.step(1); })
                  .find("an exception that is no std::exception"),
              std::string::npos);
    EXPECT_EQ(well.step(1).size(), 2u);
    EXPECT_TRUE(same_bits(broken.runtime().read_variables(), broken.first_variables()));
  }
  EXPECT_EQ(well.step(1).size(), 2u);
  SmallEngine next({.threads = 1, .deterministic = false});
  EXPECT_EQ(next.step(1).size(), 2u);
}

/// This many more updates of shards succeed; the rule throws at the next one.
int shards_left = 0;
const graph::OptimizerRule throws_at_a_shard{
    .name = "throws",
    .state = [](const graph::Hyper&) { return std::vector<graph::StateTensor>{{"kept"}}; },
    .update =
        [](const graph::Hyper&, std::int64_t, std::span<float> weight,
           const graph::SummedGradient& gradient, std::span<const std::span<float>>) {
          if (shards_left-- == 0) throw std::runtime_error("no luck");
          for (std::size_t i = 0; i < weight.size(); ++i) weight[i] -= gradient.sum[i];
        }};

/// Runs an update of two replicas, in which the rule throws after `before` updates of shards.
std::unique_ptr<SmallCast> run_with_fault(bool shards, int before) {
  auto cast = std::make_unique<SmallCast>(
      SmallEngineOptions{.replicas = 2, .shards = shards, .own_rule = &throws_at_a_shard});
  shards_left = before;
  cast->begin_windows(1);
  DeterministicRun(cast->system(), static_cast<std::uint64_t>(before)).run();
  return cast;
}

// 4.4: if one shard is missing in an update, no replica has all weights of that update. Replicas
// that divide no state divide the work of an update all the same.
TEST(PipelineFailure, OfAShardLeavesNoWeightsToBeRead) {
  for (const bool shards : {true, false}) {
    constexpr int many = 1000;
    run_with_fault(shards, many)->host().wait(0);
    const int updates = many - shards_left;
    EXPECT_GE(updates, 8) << "one for each parameter";
    for (int fault = 0; fault < updates; ++fault) {
      const auto cast = run_with_fault(shards, fault);
      const std::string failure = refusal(Errc::stage_failed, [&] { cast->host().wait(0); });
      EXPECT_NE(failure.find("weight update: no"), std::string::npos);
      const std::string unread = refusal(Errc::closed, [&] { cast->variables_after_end(); });
      EXPECT_NE(unread.find("in the middle of an update"), std::string::npos) << fault;
    }
  }
}

std::int64_t last_stage = 0;  // The rule throws in the stage of this number.

/// This rule throws in the last stage once the stage has updated a weight.
const graph::OptimizerRule throws_halfway{
    .name = "throws",
    .state = [](const graph::Hyper&) { return std::vector<graph::StateTensor>{}; },
    .update =
        [](const graph::Hyper& hyper, std::int64_t, std::span<float> weight,
           const graph::SummedGradient&, std::span<const std::span<float>>) {
          if (hyper.alpha == last_stage && weight.size() == SmallEngine::features)
            throw std::runtime_error("no luck");
        }};

// If the call waited for the end of the update, this test would take ten minutes.
TEST(PipelineFailure, OfAnUpdateIsKnownAtOnce) {
  for (const std::int64_t stages : {1, 4}) {
    last_stage = stages - 1;
    SmallEngine engine({.stages = stages,
                        .stall_seconds = 600,
                        .own_rule = &throws_halfway,
                        .deterministic = false});
    const std::string last = std::to_string(last_stage);
    EXPECT_EQ(refusal(Errc::stage_failed, [&] { engine.step(1); }),
              "stage " + last + " (replica 0, IPU " + last + "), weight update: no luck");
    for (int twice = 0; twice < 2; ++twice) {
      EXPECT_FALSE(engine.runtime().can_be_replaced());
      for (const std::string& text :
           {refusal(Errc::closed, [&] { engine.runtime().read_variables(); }),
            refusal(Errc::closed, [&] { engine.runtime().read_optimizer(); })})
        EXPECT_NE(text.find("in the middle of an update"), std::string::npos) << text;
    }
    EXPECT_EQ(engine.runtime().updates(), 0u);
  }
}

TEST(PipelineFailure, LeavesReportsAndTraceToRead) {
  const ProbeHook hook([](const ProbeRun& run) {
    throw_at({2, Direction::backward, 1, 3, 0}, run);
  });
  for (const bool deterministic : {true, false}) {
    SmallEngine engine({.trace = true, .deterministic = deterministic});
    EXPECT_NE(refusal(Errc::stage_failed, [&] { engine.step(windows); }), "accepted");
    const auto statuses = engine.runtime().read_status();
    ASSERT_EQ(statuses.size(), 4u);
    for (std::size_t stage = 0; stage < 4; ++stage) {
      const StageReport& report = statuses[stage].report;
      EXPECT_EQ(report.stage, static_cast<int>(stage));
      EXPECT_GE(report.forward_runs, stage <= 2 ? 12 : 8);
      EXPECT_GE(report.max_in_flight, 1);
      EXPECT_GE(std::ssize(statuses[stage].trace), 8 + 8 + 1);
    }
    for (const StageStatus& status : engine.runtime().read_status())
      EXPECT_TRUE(status.trace.empty());
    EXPECT_EQ(engine.runtime().updates(), 1u);
  }
}

}  // namespace
}  // namespace penstock::actors
