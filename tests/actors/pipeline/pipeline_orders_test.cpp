// In these tests, a whole small engine runs under thousands of orders of messages, each of which is
// drawn from a seed.

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <tuple>

#include "tests/support/deterministic_run.hpp"
#include "tests/support/plan_runner.hpp"
#include "tests/support/small_cast.hpp"

namespace penstock::actors {
namespace {

using testing::DeterministicRun;
using testing::orders;
using testing::same_bits;
using testing::SmallCast;
using testing::SmallEngine;
using testing::SmallEngineOptions;

constexpr int calls = 2;
constexpr std::int64_t ordered_windows = 2;  // A call has this many windows.

struct Result {
  std::vector<Tensor> tensors;  // These are the outputs of all calls, and then the variables.
  // This has, for each stage, the most micro-batches of any replica.
  std::vector<int> max_in_flight;
  std::size_t events = 0;  // This many events were traced.
};

/// A Training runs all calls of one engine. The results of a call are read as soon as the call is
/// answered, while other messages may still be on their way.
class Training {
 public:
  Training(const SmallEngineOptions& options, std::optional<std::uint64_t> seed)
      : cast_(options),
        order_(seed ? DeterministicRun(cast_.system(), *seed) : DeterministicRun(cast_.system())) {}

  Result run() {
    Result result;
    for (int call = 0; call < calls; ++call) {
      cast_.begin_windows(ordered_windows);
      StepOutcome outcome = answer<StepOutcome>();
      for (Tensor& output : outcome.outputs) result.tensors.push_back(std::move(output));
    }
    Variables variables = cast_.variables();
    for (std::int32_t replica = 1; replica < cast_.options().replicas; ++replica)
      expect_weights_of(replica, variables);
    for (Tensor& variable : variables) result.tensors.push_back(std::move(variable));
    result.max_in_flight.assign(cast_.plan().stages.size(), 0);
    for (const auto& board : cast_.cast().statuses) {
      const StageStatus status = board->take();
      int& highest = result.max_in_flight[static_cast<std::size_t>(status.report.stage)];
      highest = std::max(highest, status.report.max_in_flight);
      result.events += status.trace.size();
    }
    return result;
  }

 private:
  /// 7.5: checks that `replica` has the same trained weights as the first replica, bit for bit.
  /// Buffers are not compared, because each replica has its own buffers.
  void expect_weights_of(std::int32_t replica, const Variables& of_first) {
    const Variables of_replica = cast_.variables(static_cast<std::size_t>(replica));
    for (std::size_t i = 0; i < of_replica.size(); ++i) {
      const graph::VariableInfo& variable = cast_.plan().variables[i];
      if (!variable.trainable) continue;
      EXPECT_TRUE(same_bits({of_replica[i]}, {of_first[i]}))
          << variable.name << " of replica " << replica;
    }
  }

  template <class Kind>
  Kind answer() {
    EXPECT_TRUE(order_.run_until([&] { return cast_.host().answered(); })) << "it stands still";
    return std::get<Kind>(cast_.host().wait(0));
  }

  SmallCast cast_;
  DeterministicRun order_;
};

Result train(const SmallEngineOptions& options, std::optional<std::uint64_t> seed) {
  return Training(options, seed).run();
}

/// Returns the number of events that all calls leave in the trace: one for every program and one
/// for every part of an update.
std::size_t all_events(const SmallEngineOptions& options) {
  const std::int64_t parts_of_update =
      1 + (options.max_grad_norm > 0) + (options.replicas > 1 ? 1 + options.shards : 0);
  const std::int64_t per_window = 2 * options.gradient_accumulation + parts_of_update;
  return static_cast<std::size_t>(calls * ordered_windows * options.replicas * options.stages *
                                  per_window);
}

const std::map<std::string, std::vector<int>> limits = {
    {"grouped", {7, 5, 3, 1}}, {"interleaved", {4, 3, 2, 1}}, {"sequential", {1, 1, 1, 1}}};

std::vector<SmallEngineOptions> variants() {
  std::vector<SmallEngineOptions> all;
  for (const auto& [schedule, limit] : limits)
    // With three replicas, it shows in which order sums are added.
    for (const std::int64_t replicas : {1, 2, 3})
      for (const double max_grad_norm : {0.0, 0.05})
        for (const bool offload : {false, true})
          for (const bool tied : {false, true})
            for (const bool shards : {false, true})
              all.push_back({.schedule = schedule,
                             .tied = tied,
                             .replicas = replicas,
                             .max_grad_norm = max_grad_norm,
                             .offload = offload,
                             .shards = shards,
                             .trace = true});
  return all;
}

/// Returns the result of a single stage. Every other cut, schedule and order has to give the same
/// bits.
const Result& reference(std::int64_t replicas, double max_grad_norm, bool tied = false) {
  static std::map<std::tuple<std::int64_t, double, bool>, Result> results;
  auto [at, is_new] = results.try_emplace({replicas, max_grad_norm, tied});
  if (is_new)
    at->second = train({.schedule = "sequential",
                        .stages = 1,
                        .tied = tied,
                        .replicas = replicas,
                        .max_grad_norm = max_grad_norm},
                       std::nullopt);
  return at->second;
}

TEST(PipelineOrders, NeverChangeABitNorExceedALimit) {
  const auto all = variants();
  const std::uint64_t count = orders();
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    const SmallEngineOptions& options = all[seed % all.size()];
    SCOPED_TRACE(options.schedule + ", seed " + std::to_string(seed));
    const Result result = train(options, seed);
    ASSERT_TRUE(same_bits(
        result.tensors, reference(options.replicas, options.max_grad_norm, options.tied).tensors));
    ASSERT_EQ(result.events, all_events(options));
    const auto& limit = limits.at(options.schedule);
    for (std::size_t stage = 0; stage < limit.size(); ++stage)
      ASSERT_LE(result.max_in_flight[stage], limit[stage]);
  }
}

TEST(PipelineOrders, R2_4_ReturnTheSameAnchorsAndLeaveTheRestAsItWas) {
  const Result plain = train({.schedule = "sequential", .stages = 1, .replicas = 2}, std::nullopt);
  const Result single =
      train({.schedule = "sequential", .stages = 1, .replicas = 2, .anchors = true}, std::nullopt);
  EXPECT_EQ(single.tensors.size(), plain.tensors.size() + 3 * calls);
  for (std::uint64_t seed = 0; seed < orders() / 10; ++seed) {
    const auto schedule = std::next(limits.begin(), static_cast<int>(seed % limits.size()));
    SCOPED_TRACE(schedule->first + ", seed " + std::to_string(seed));
    const Result result =
        train({.schedule = schedule->first, .replicas = 2, .anchors = true}, seed);
    ASSERT_TRUE(same_bits(result.tensors, single.tensors));
    // The variables are at the end. In `plain`, only an output and a loss of each call are before
    // the variables.
    const auto variables = std::ssize(plain.tensors) - 2 * calls;
    ASSERT_TRUE(same_bits({result.tensors.end() - variables, result.tensors.end()},
                          {plain.tensors.end() - variables, plain.tensors.end()}));
    for (std::size_t stage = 0; stage < schedule->second.size(); ++stage)
      ASSERT_LE(result.max_in_flight[stage], schedule->second[stage]);
  }
}

// 4.4: with five replicas, the last replica's shard of a bias is empty.
TEST(PipelineOrders, NeverChangeABitOfShardsWhoseRuleHasNorms) {
  std::uint64_t seed = 0;
  for (const std::int64_t replicas : {2, 3, 5})
    for (const double max_grad_norm : {0.0, 0.05}) {
      const Result whole = train({.schedule = "sequential",
                                  .stages = 1,
                                  .replicas = replicas,
                                  .max_grad_norm = max_grad_norm,
                                  .rule = "lamb"},
                                 std::nullopt);
      for (const auto& [schedule, limit] : limits)
        for (const bool offload : {false, true})
          for (std::uint64_t order = 0; order < orders() / 100; ++order, ++seed) {
            SCOPED_TRACE(schedule + ", seed " + std::to_string(seed));
            const SmallEngineOptions options{.schedule = schedule,
                                             .replicas = replicas,
                                             .max_grad_norm = max_grad_norm,
                                             .offload = offload,
                                             .shards = true,
                                             .rule = "lamb"};
            ASSERT_TRUE(same_bits(train(options, seed).tensors, whole.tensors));
          }
    }
}

TEST(PipelineOrders, ClippingAndReplicasDoChangeBits) {
  EXPECT_FALSE(same_bits(reference(1, 0).tensors, reference(1, 0.05).tensors));
  EXPECT_FALSE(same_bits(reference(1, 0).tensors, reference(2, 0).tensors));
}

// C2, 3.1, 3.3: a stage does not only keep to its schedule's limit of micro-batches in flight, but
// reaches it.
TEST(PipelineOrders, ReachEveryLimitWhereStagesCostTheSame) {
  for (const auto& [schedule, limit] : limits)
    for (const std::int64_t accumulation : {7, 16}) {
      SCOPED_TRACE(schedule + ", " + std::to_string(accumulation) + " micro-batches");
      EXPECT_EQ(train({.schedule = schedule, .gradient_accumulation = accumulation}, std::nullopt)
                    .max_in_flight,
                limit);
    }
}

TEST(PipelineOrders, ReachNoMoreThanTheWindowHolds) {
  EXPECT_EQ(train({.gradient_accumulation = 2}, std::nullopt).max_in_flight,
            (std::vector<int>{2, 2, 2, 1}));
}

/// A HandComputation computes windows by hand: all micro-batches of a window see the same weights,
/// and then comes one update.
class HandComputation {
 public:
  explicit HandComputation(const SmallEngine& engine)
      : engine_(engine),
        rules_(engine.rules()),
        runner_(engine.plan()),
        variables_(engine.first_variables()),
        states_(variables_.size()) {}

  /// Computes window number `number` of `inputs`. Returns the losses of its micro-batches.
  std::vector<float> window(const std::vector<Tensor>& inputs, std::int64_t number) {
    set_variables();
    const std::int64_t accumulation = engine_.options().gradient_accumulation;
    std::vector<std::vector<Tensor>> micro_batches;
    for (std::int64_t m = number * accumulation; m < (number + 1) * accumulation; ++m) {
      auto& tensors = micro_batches.emplace_back();
      for (const Tensor& input : inputs) tensors.push_back(rows_of(input, m * SmallEngine::batch));
    }
    std::vector<float> losses;
    for (const auto& outputs : runner_.run(micro_batches)) losses.push_back(outputs.back().item());
    update();
    return losses;
  }
  const std::vector<Tensor>& variables() const { return variables_; }

 private:
  static Tensor rows_of(const Tensor& input, std::int64_t first) {
    return Tensor({SmallEngine::batch, SmallEngine::features},
                  input.rows(first, first + SmallEngine::batch).as<float>());
  }

  void set_variables() {
    for (std::size_t i = 0; i < variables_.size(); ++i)
      runner_.set_variable(engine_.plan().variables[i].name, variables_[i]);
  }

  void update() {
    ++step_;
    const auto scale =
        static_cast<float>(1.0 / static_cast<double>(engine_.options().gradient_accumulation));
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (!engine_.plan().variables[i].trainable) {
        variables_[i] = runner_.variable(engine_.plan().variables[i].name);
        continue;
      }
      const Tensor sum = runner_.gradients(engine_.plan().variables[i].name)[0];
      std::vector<float> gradient(sum.as<float>().begin(), sum.as<float>().end());
      for (float& g : gradient) g *= scale;
      const auto old = variables_[i].as<float>();
      std::vector<float> weight(old.begin(), old.end());
      apply(i, weight, gradient);
      variables_[i] = Tensor(variables_[i].shape(), std::span<const float>(weight));
    }
  }

  void apply(std::size_t i, std::span<float> weight, std::span<float> gradient) {
    const graph::ParameterRule& rule = rules_.variables[i];
    std::vector<std::vector<float>>& state = states_[i];
    for (const auto& tensor : rule.rule->state(rule.hyper))
      if (step_ == 1) state.emplace_back(weight.size(), tensor.initial);
    const std::vector<std::span<float>> spans(state.begin(), state.end());
    rule.rule->update(rule.hyper, step_, weight, {.sum = gradient.data()}, spans);
  }

  const SmallEngine& engine_;
  UpdateRules rules_;
  testing::PlanRunner runner_;
  std::vector<Tensor> variables_;
  // This has the elements of each tensor of the optimizer's state of each variable.
  std::vector<std::vector<std::vector<float>>> states_;
  std::int64_t step_ = 0;
};

TEST(PipelineOrders, KeepWeightsConstantInsideAWindowAndUpdateThemOnceAfterIt) {
  for (const auto& [schedule, limit] : limits) {
    SmallEngine engine({.schedule = schedule, .rule = "sgd", .momentum = 0.9});
    HandComputation by_hand(engine);
    engine.begin(3);
    DeterministicRun(engine.runtime().system(), 1).run_until([&] {
      return engine.runtime().answered();
    });
    const Tensor losses = engine.runtime().finish_step().outputs.back();
    std::vector<float> expected;
    for (std::int64_t window = 0; window < 3; ++window)
      for (const float loss : by_hand.window(engine.inputs(3), window)) expected.push_back(loss);
    EXPECT_TRUE(same_bits({losses}, {Tensor(losses.shape(), std::span<const float>(expected))}));
    EXPECT_TRUE(same_bits(engine.runtime().read_variables(), by_hand.variables()));
  }
}

}  // namespace
}  // namespace penstock::actors
