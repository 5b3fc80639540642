// In these tests, the stages of a small engine are in several simulated processes, and messages are
// handled in orders that are drawn from seeds.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "actors/messages/envelope.hpp"
#include "tests/support/deterministic_run.hpp"
#include "tests/support/divided_cast.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/small_cast.hpp"

namespace penstock::actors {
namespace {

using testing::DeterministicRun;
using testing::DividedCast;
using testing::orders;
using testing::refusal;
using testing::same_bits;
using testing::SmallCast;
using testing::SmallEngineOptions;
using Processes = std::vector<std::int32_t>;

constexpr int divided_calls = 2;
constexpr std::int64_t windows_of_call = 2;

/// Returns the rules of `network` without the numbers of stages in place of a constant that the
/// rules do not have: a message with a constant that is out of range is refused.
UpdateRules valid_rules(const testing::SmallNetwork& network) {
  UpdateRules rules = network.rules();
  for (graph::ParameterRule& variable : rules.variables)
    variable.hyper.alpha = graph::Hyper().alpha;
  return rules;
}

/// Returns other rules than those of `network`, with other constants of the same rule.
UpdateRules other_rules(const testing::SmallNetwork& network) {
  UpdateRules rules = valid_rules(network);
  for (graph::ParameterRule& variable : rules.variables) {
    variable.hyper.learning_rate *= 0.5;
    variable.hyper.weight_decay = 0.25;
  }
  if (rules.max_grad_norm > 0) rules.max_grad_norm *= 0.5;
  rules.loss_scaling = 3;
  rules.schedule = LearningRateSchedule::cosine(5).after_warm_up(1, 0.25);
  return rules;
}

template <class Cast>
void set_rules(Cast& cast, const UpdateRules& rules, DeterministicRun& order) {
  cast.begin_set_rules(rules);
  EXPECT_TRUE(order.run_until([&] { return cast.host().answered(); })) << "it stands still";
  EXPECT_TRUE(std::holds_alternative<Done>(cast.host().wait(0)));
}

enum class Rules : std::uint8_t { same, replaced };

/// Runs the calls of `cast`, and returns their outputs and mean losses, and then the variables of
/// all replicas. If the rules are `replaced`, that is done before each call but the first one.
template <class Cast>
std::vector<Tensor> results_of(Cast& cast, DeterministicRun order, Rules rules = Rules::same) {
  std::vector<Tensor> results;
  for (int call = 0; call < divided_calls; ++call) {
    if (call > 0 && rules == Rules::replaced) set_rules(cast, other_rules(cast), order);
    cast.begin_windows(windows_of_call);
    EXPECT_TRUE(order.run_until([&] { return cast.host().answered(); })) << "it stands still";
    auto outcome = std::get<StepOutcome>(cast.host().wait(0));
    for (Tensor& output : outcome.outputs) results.push_back(std::move(output));
    results.push_back(Tensor({}, {static_cast<float>(outcome.mean_loss)}));
  }
  for (std::int64_t replica = 0; replica < cast.options().replicas; ++replica)
    for (Tensor& variable : cast.variables(static_cast<std::size_t>(replica)))
      results.push_back(std::move(variable));
  return results;
}

std::vector<Tensor> undivided(const SmallEngineOptions& options) {
  SmallCast cast(options);
  return results_of(cast, DeterministicRun(cast.system()));
}

void expect_same_divided(const SmallEngineOptions& options, const Processes& processes,
                         std::uint64_t seed, const std::vector<Tensor>& expected) {
  DividedCast cast(options, processes);
  const std::vector<Tensor> results = results_of(cast, DeterministicRun(cast.system(), seed));
  EXPECT_TRUE(same_bits(results, expected));
  EXPECT_EQ(cast.refusal(), "");
  if (options.training) {
    EXPECT_EQ(cast.updates(), static_cast<std::uint64_t>(divided_calls * windows_of_call));
  }
}

/// These are the processes of the stages: some where the host's process has no stage, and some
/// where tensors pass through a process twice.
const std::vector<Processes> divisions = {{0, 0, 1, 1}, {0, 1, 2, 3}, {1, 1, 1, 1},
                                          {1, 2, 3, 4}, {1, 0, 1, 0}, {2, 1, 1, 2}};

std::vector<SmallEngineOptions> divided_engines() {
  std::vector<SmallEngineOptions> all;
  for (const std::string schedule : {"grouped", "interleaved", "sequential"})
    for (const std::int64_t replicas : {1, 2})
      for (const double max_grad_norm : {0.0, 0.05})
        for (const bool offload : {false, true})
          all.push_back({.schedule = schedule,
                         .replicas = replicas,
                         .gradient_accumulation = 3,
                         .max_grad_norm = max_grad_norm,
                         .offload = offload,
                         .shards = replicas > 1,
                         .rule = offload ? "lamb" : "adamw"});
  all.push_back({.squares = true, .recompute = true, .gradient_accumulation = 3});
  all.push_back({.replicas = 2, .gradient_accumulation = 3, .anchors = true});
  all.push_back({.training = false, .replicas = 2});
  all.push_back({.gradient_accumulation = 3,
                 .output_mode = OutputMode::every_n,
                 .output_period = 2,
                 .trace = true});
  return all;
}

TEST(DividedPipeline, HasTheBitsOfOneProcessInEveryOrder) {
  const auto engines = divided_engines();
  std::vector<std::vector<Tensor>> expected;
  for (const SmallEngineOptions& options : engines) expected.push_back(undivided(options));
  for (std::uint64_t seed = 0; seed < std::max<std::uint64_t>(orders() / 4, 200); ++seed) {
    const std::size_t engine = seed % engines.size();
    const Processes& processes = divisions[(seed / engines.size()) % divisions.size()];
    SCOPED_TRACE(engines[engine].schedule + ", engine " + std::to_string(engine) + ", seed " +
                 std::to_string(seed));
    expect_same_divided(engines[engine], processes, seed, expected[engine]);
    if (HasFailure()) return;
  }
}

TEST(DividedPipeline, TakesNewRulesBetweenCalls) {
  for (const std::string rule : {"adamw", "lamb"})
    for (const std::int64_t replicas : {1, 2}) {
      const SmallEngineOptions options{.replicas = replicas,
                                       .gradient_accumulation = 3,
                                       .max_grad_norm = rule == "lamb" ? 0.05 : 0,
                                       .shards = replicas > 1,
                                       .rule = rule};
      SmallCast whole(options);
      const std::vector<Tensor> expected =
          results_of(whole, DeterministicRun(whole.system()), Rules::replaced);
      EXPECT_FALSE(same_bits(expected, undivided(options)));
      for (std::uint64_t seed = 0; seed < 3; ++seed)
        for (const Processes& processes : divisions) {
          DividedCast cast(options, processes);
          EXPECT_TRUE(same_bits(
              results_of(cast, DeterministicRun(cast.system(), seed), Rules::replaced), expected))
              << rule << ", " << replicas << " replicas, seed " << seed;
          EXPECT_EQ(cast.refusal(), "");
        }
    }
}

/// Returns the text of the failure of process number 1 after the part of that process has got
/// `rules`.
std::string failure_of_part(const SmallEngineOptions& options, const UpdateRules& rules) {
  DividedCast cast(options, {0, 1, 1, 0});
  caf::anon_send(cast.cast(1).residents.part, NewRules{rules});
  DeterministicRun(cast.system()).run();
  return cast.host(1).failure.text();
}

TEST(DividedPipeline, RefusesRulesThatTheStateIsNotFor) {
  const SmallEngineOptions options{.gradient_accumulation = 2, .rule = "sgd"};
  const testing::SmallNetwork network(options);
  const std::string other_state = "other variables or another state than those of the optimizers";
  UpdateRules rules = network.rules();
  rules.variables.pop_back();
  EXPECT_NE(failure_of_part(options, rules).find(other_state), std::string::npos);
  rules = network.rules();
  for (graph::ParameterRule& variable : rules.variables)
    if (variable.rule) variable.rule = &graph::find_optimizer_rule("adamw");
  EXPECT_NE(failure_of_part(options, rules).find(other_state), std::string::npos);
  rules = network.rules();
  for (graph::ParameterRule& variable : rules.variables) variable.hyper.momentum = 0.9;
  EXPECT_NE(failure_of_part(options, rules).find(other_state), std::string::npos)
      << "only with momentum has sgd a state";
  rules = network.rules();
  rules.loss_scaling = std::numeric_limits<double>::infinity();
  EXPECT_NE(failure_of_part(options, rules).find("finite and not negative, got inf"),
            std::string::npos);
  // The part answers with a message that the step does not wait for.
  DividedCast cast(options, {0, 1, 1, 0});
  caf::anon_send(cast.cast(1).residents.part, NewRules{network.rules()});
  DeterministicRun(cast.system()).run();
  EXPECT_EQ(cast.host(1).failure.text(), "");
  const std::string text = cast.host().failure.text();
  EXPECT_NE(text.find("RulesTaken of process 1 came out of turn"), std::string::npos) << text;
}

TEST(DividedPipeline, RefusesNewRulesInTheMiddleOfAnUpdate) {
  const SmallEngineOptions options{.gradient_accumulation = 2};
  DividedCast cast(options, {0, 1, 1, 0});
  cast.begin_windows(1);
  DeterministicRun order(cast.system());
  EXPECT_TRUE(order.run_until([&] { return cast.host().updates.under_way(); }));
  caf::anon_send(cast.cast(1).residents.part, NewRules{cast.rules()});
  order.run();
  const std::string text = cast.host(1).failure.text();
  EXPECT_NE(text.find("the message SetRules came out of turn"), std::string::npos) << text;
}

TEST(DividedPipeline, SendsEveryKindOfMessageThatMayCross) {
  std::set<std::size_t> kinds;
  const auto watch = [&](std::int32_t from, std::int32_t to, const std::string& bytes) {
    EXPECT_NE(from, to);
    kinds.insert(decode(bytes).message.index());
  };
  // With stages that take turns in phases, TurnNear crosses, too.
  const SmallEngineOptions options{.schedule = "sequential",
                                   .phased = graph::PhaseRequest{.parallel = true},
                                   .gradient_accumulation = 3,
                                   .max_grad_norm = 0.05,
                                   .offload = true};
  DividedCast cast(options, {1, 2, 1, 2}, watch);
  DeterministicRun order(cast.system(), 0);
  set_rules(cast, valid_rules(cast), order);
  EXPECT_TRUE(same_bits(results_of(cast, order), undivided(options)));
  caf::anon_send(cast.cast(0).supervisor, NothingMoves{cast.host().pulse.beats(), 60});
  caf::anon_send(cast.cast(0).supervisor,
                 ShowWaits{std::make_shared<WaitPicture>(std::make_shared<Bell>())});
  caf::anon_send(cast.cast(1).supervisor, Failed{{Errc::stage_failed, "the end"}});
  order.run();
  EXPECT_EQ(cast.host().failure.text(), "the end");
  EXPECT_EQ(kinds.size(), std::variant_size_v<RemoteMessage>);
}

// The number of updates is final as soon as an update has ended, whatever the host hears later, and
// every process counts the updates of its own stages.
TEST(DividedPipeline, CountsAnUpdateBeforeItEnds) {
  for (const std::int64_t replicas : {1, 2})
    for (const Processes& processes : divisions) {
      const SmallEngineOptions options{.replicas = replicas, .gradient_accumulation = 2};
      DividedCast cast(options, processes);
      cast.begin_windows(1);
      DeterministicRun order(cast.system(), 3);
      EXPECT_TRUE(order.run_until([&] { return cast.host().updates.under_way(); }));
      EXPECT_EQ(cast.updates(), 0u);
      EXPECT_TRUE(order.run_until([&] { return !cast.host().updates.under_way(); }));
      EXPECT_EQ(cast.updates(), 1u);
      const std::set<std::int32_t> with_stages(processes.begin(), processes.end());
      for (const std::int32_t process : with_stages)
        EXPECT_EQ(cast.pipeline(static_cast<std::size_t>(process)).update_count->total(), 1u)
            << process;
    }
}

TEST(DividedPipeline, KeepsTheCopiesOfASharedParameterInAnotherProcess) {
  const SmallEngineOptions options{.tied = true, .replicas = 2, .gradient_accumulation = 3};
  DividedCast cast(options, {1, 1, 1, 1});
  EXPECT_TRUE(same_bits(results_of(cast, DeterministicRun(cast.system(), 5)), undivided(options)));
  EXPECT_NE(refusal(Errc::invalid_topology,
                    [&] {
                      DividedCast(options, {0, 1, 1, 1});
                    }),
            "accepted");
}

TEST(DividedPipeline, RefusesToBeginWithoutALink) {
  const testing::SmallNetwork network{SmallEngineOptions{}};
  PipelineSetup setup = network.setup();
  setup.division = Division(network.plan(), {0, 0, 0, 1});
  ActorSystem system(SystemOptions{.deterministic = true});
  EXPECT_EQ(refusal(Errc::internal,
                    [&] {
                      spawn_pipeline(system, completed(setup, network.rules()),
                                     std::make_shared<HostCalls>(),
                                     std::make_shared<const UpdateRules>(network.rules()));
                    }),
            "no link leads to process 1, which has the stage 3 of replica 0");
}

// If a message is lost, the host learns which stage waits for it, even from another process.
TEST(DividedPipeline, ExplainsAStallInAnotherProcess) {
  bool lost = false;
  const auto lose_one = [&](std::int32_t from, std::int32_t to, std::string& bytes) {
    if (lost || from != 1 || to != 2) return;
    lost = std::holds_alternative<EdgeTensor>(decode(bytes).message);
    if (lost) bytes.clear();
  };
  DividedCast cast({.gradient_accumulation = 3}, {0, 1, 2, 0}, lose_one);
  cast.begin_windows(1);
  DeterministicRun order(cast.system());
  order.run();
  ASSERT_TRUE(lost);
  ASSERT_FALSE(cast.host().answered());
  find_out_why_nothing_moves(cast.pipeline(0), cast.host().pulse, cast.cast(0),
                             cast.host().pulse.beats(), 60);
  order.run();
  const std::string text = cast.host().failure.text();
  EXPECT_NE(text.find("stage 2 (replica 0, IPU 2) waits for"), std::string::npos) << text;
  EXPECT_EQ(text.find("gave no answer"), std::string::npos) << text;
}

// Whatever bytes come, they are refused, or an actor refuses the message that they make, or the
// numbers become others; but all memory that is read and written is the pipeline's own.
TEST(DividedPipeline, SurvivesChangedBytes) {
  const SmallEngineOptions options{.replicas = 2,
                                   .gradient_accumulation = 2,
                                   .max_grad_norm = 0.05,
                                   .shards = true,
                                   .rule = "lamb"};
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < std::max<std::uint64_t>(orders() / 4, 200); ++seed) {
    std::mt19937_64 random(seed);
    const auto change_some = [&](std::int32_t, std::int32_t, std::string& bytes) {
      if (random() % 50 != 0) return;
      const std::size_t end =
          random() % 2 == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 32);
      bytes[random() % end] = static_cast<char>(random());
    };
    DividedCast cast(options, divisions[seed % divisions.size()], change_some);
    DeterministicRun order(cast.system(), seed);
    bool is_idle = true;
    if (seed % 3 == 0) {
      cast.begin_set_rules(other_rules(cast));
      order.run();
      is_idle = cast.host().call.answered() && !cast.host().failure.failed();
      if (is_idle) cast.host().wait(0);
    }
    if (is_idle) cast.begin_windows(2);
    order.run();
    refused += cast.refusal().empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace penstock::actors
