#include "actors/execution/output_collector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "graph/values/memory.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/same_bits.hpp"

namespace penstock::actors {
namespace {

constexpr std::int64_t batch = 2;

std::shared_ptr<PipelineSetup> setup_for(OutputMode mode, std::int64_t period,
                                         std::int64_t replicas) {
  graph::Plan plan;
  plan.outputs = {{"rows", {DType::f32, {batch, 3}}},
                  {"loss", {DType::f32, {}}},
                  {"classes", {DType::i64, {batch}}}};
  auto setup = std::make_shared<PipelineSetup>();
  setup->plan = std::make_shared<const graph::Plan>(std::move(plan));
  setup->replicas = replicas;
  setup->outputs = {mode, period};
  return setup;
}

/// Returns the outputs of micro-batch number `number` in the order of the data. Every element is
/// `number`.
std::vector<Tensor> outputs_of(std::int64_t number) {
  const std::vector<float> rows(batch * 3, static_cast<float>(number));
  const std::vector<std::int64_t> classes(batch, number);
  return {Tensor({batch, 3}, std::span(rows)), Tensor({}, {static_cast<float>(number)}),
          Tensor({batch}, std::span(classes))};
}

/// Adds all micro-batches of a call. `seed` decides in which order the micro-batches of different
/// replicas come.
void add_all(OutputCollector& collector, std::int64_t micro_batches, std::int64_t replicas,
             unsigned seed) {
  std::vector<std::int64_t> order;
  for (std::int64_t r = 0; r < replicas; ++r)
    order.insert(order.end(), static_cast<std::size_t>(micro_batches), r);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  std::vector<std::int64_t> next(static_cast<std::size_t>(replicas), 0);
  for (const std::int64_t replica : order) {
    EXPECT_FALSE(collector.complete());
    const std::int64_t m = next[static_cast<std::size_t>(replica)]++;
    const auto tensors = outputs_of(m * replicas + replica);
    for (std::size_t i = 0; i < tensors.size(); ++i) collector.add(i, replica, m, tensors[i]);
  }
}

struct Case {
  OutputMode mode;
  std::int64_t period;
  // This is D·G, the number of micro-batches of each replica in a call.
  std::int64_t micro_batches;
  std::int64_t replicas;  // This is R.
  // These are the numbers of the micro-batches that are returned or, in mode `sum`, the sums.
  std::vector<std::int64_t> selected;
};

/// Micro-batch m of replica r has the number m·R + r, which is its place in the order of the data.
const Case cases[] = {
    {OutputMode::all, 1, 1, 1, {0}},
    {OutputMode::all, 1, 4, 1, {0, 1, 2, 3}},
    {OutputMode::all, 1, 3, 2, {0, 1, 2, 3, 4, 5}},
    {OutputMode::final, 1, 1, 1, {0}},
    {OutputMode::final, 1, 6, 1, {5}},
    {OutputMode::final, 1, 6, 2, {10, 11}},
    {OutputMode::every_n, 5, 10, 1, {4, 9}},
    {OutputMode::every_n, 1, 3, 1, {0, 1, 2}},
    {OutputMode::every_n, 3, 6, 2, {4, 5, 10, 11}},
    {OutputMode::every_n, 4, 4, 1, {3}},
    // The call is shortened, and its last two micro-batches are not a whole period.
    {OutputMode::every_n, 4, 6, 1, {3}},
    {OutputMode::every_n, 4, 3, 2, {}},
    {OutputMode::sum, 1, 1, 1, {0}},
    {OutputMode::sum, 1, 4, 1, {6}},
    {OutputMode::sum, 1, 3, 2, {0 + 2 + 4, 1 + 3 + 5}},
};

std::vector<std::int64_t> repeated(const std::vector<std::int64_t>& numbers, std::int64_t times) {
  std::vector<std::int64_t> all;
  for (const std::int64_t n : numbers) all.insert(all.end(), static_cast<std::size_t>(times), n);
  return all;
}

template <class T>
std::vector<std::int64_t> numbers(const Tensor& tensor) {
  const auto values = tensor.as<T>();
  return {values.begin(), values.end()};
}

void expect_case(const Case& c, const Outputs& outputs) {
  const auto count = static_cast<std::int64_t>(c.selected.size());
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(outputs[0].shape(), (Shape{batch * count, 3}));
  EXPECT_EQ(outputs[1].shape(), count == 1 ? Shape{} : Shape{count});
  EXPECT_EQ(outputs[2].shape(), Shape{batch * count});
  EXPECT_EQ(numbers<float>(outputs[0]), repeated(c.selected, batch * 3));
  EXPECT_EQ(numbers<float>(outputs[1]), c.selected);
  EXPECT_EQ(numbers<std::int64_t>(outputs[2]), repeated(c.selected, batch));
}

TEST(OutputCollector, ReturnsWhatTheOutputModeSelectsInDataOrder) {
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(to_string(c.mode)) + " of " + std::to_string(c.micro_batches) +
                 " micro-batches, " + std::to_string(c.replicas) + " replicas");
    OutputCollector collector(setup_for(c.mode, c.period, c.replicas));
    for (unsigned call = 0; call < 3; ++call) {  // Later calls use the memory of the first one.
      collector.begin(c.micro_batches);
      add_all(collector, c.micro_batches, c.replicas, call);
      ASSERT_TRUE(collector.complete());
      expect_case(c, collector.outcome().outputs);
    }
  }
}

TEST(OutputCollector, LeavesResultsAloneThatTheHostStillHolds) {
  OutputCollector collector(setup_for(OutputMode::sum, 1, 1));
  std::vector<Outputs> held;
  for (std::int64_t call = 1; call <= 3; ++call) {
    collector.begin(call);
    add_all(collector, call, 1, 0);
    held.push_back(collector.outcome().outputs);
  }
  EXPECT_EQ(held[0][1].item(), 0);
  EXPECT_EQ(held[1][1].item(), 1);
  EXPECT_EQ(held[2][1].item(), 3);
}

TEST(OutputCollector, UsesMemoryAgainThatTheHostHasDropped) {
  OutputCollector collector(setup_for(OutputMode::all, 1, 1));
  std::vector<const std::byte*> first;
  for (int call = 0; call < 5; ++call) {
    collector.begin(4);
    add_all(collector, 4, 1, 0);
    std::vector<const std::byte*> places;
    for (const Tensor& tensor : collector.outcome().outputs) places.push_back(tensor.raw());
    if (call == 0) first = places;
    EXPECT_EQ(places, first);
  }
}

TEST(OutputCollector, GivesBackTheMemoryOfResultsThatTheHostHeldAllAtOnce) {
  const std::uint64_t before = memory_counters().bytes_live;
  OutputCollector collector(setup_for(OutputMode::all, 1, 1));
  const auto call = [&] {
    collector.begin(4);
    add_all(collector, 4, 1, 0);
    return collector.outcome().outputs;
  };
  call();
  const std::uint64_t of_one_call = memory_counters().bytes_live - before;
  std::vector<Outputs> held;
  for (int i = 0; i < 30; ++i) held.push_back(call());
  EXPECT_GE(memory_counters().bytes_live, before + 30 * of_one_call);
  held.clear();
  for (int i = 0; i < 20; ++i) call();
  EXPECT_EQ(memory_counters().bytes_live, before + of_one_call);
}

// Two replicas have done one window of two micro-batches; then the first one has begun the next.
TEST(OutputCollector, GoesOnBehindTheWindowsOfACallThatHasFailed) {
  for (const OutputMode mode : {OutputMode::all, OutputMode::final, OutputMode::sum}) {
    auto setup = setup_for(mode, 1, 2);
    graph::Plan plan = *setup->plan;
    plan.training = true;
    setup->plan = std::make_shared<const graph::Plan>(std::move(plan));
    setup->gradient_accumulation = 2;
    OutputCollector failed(setup), next(setup);
    const auto add = [](OutputCollector& collector, std::int64_t replica, std::int64_t number) {
      const auto tensors = outputs_of(number * 2 + replica);
      for (std::size_t i = 0; i < tensors.size(); ++i)
        collector.add(i, replica, number, tensors[i]);
    };
    failed.begin(4);
    EXPECT_FALSE(failed.has_all_of(2));
    for (const std::int64_t number : {0, 1})
      for (const std::int64_t replica : {0, 1}) add(failed, replica, number);
    add(failed, 0, 2);
    EXPECT_TRUE(failed.has_all_of(2));
    EXPECT_FALSE(failed.has_all_of(3));
    next.go_on_with(std::move(failed), 2);
    for (const std::int64_t number : {2, 3})
      for (const std::int64_t replica : {0, 1}) {
        EXPECT_FALSE(next.complete());
        add(next, replica, number);
      }
    ASSERT_TRUE(next.complete());
    OutputCollector undisturbed(setup);
    undisturbed.begin(4);
    add_all(undisturbed, 4, 2, 1);
    const Outputs outputs = next.outcome().outputs, expected = undisturbed.outcome().outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      EXPECT_TRUE(testing::same_bits(outputs[i], expected[i])) << to_string(mode) << ", " << i;
  }
}

TEST(OutputCollector, RefusesMicroBatchesOutOfOrder) {
  OutputCollector collector(setup_for(OutputMode::all, 1, 2));
  collector.begin(3);
  const auto add = [&](std::int64_t replica, std::int64_t number) {
    return testing::refusal(Errc::internal, [&] {
      collector.add(0, replica, number, outputs_of(number * 2 + replica)[0]);
    });
  };
  EXPECT_EQ(add(1, 1),
            "output 0 of replica 1: expected micro-batch 0 of the call, got micro-batch 1");
  EXPECT_EQ(add(1, 0), "accepted");
  EXPECT_NE(add(1, 0), "accepted");
  EXPECT_NE(add(1, 2), "accepted");
  EXPECT_EQ(add(0, 0), "accepted");
  EXPECT_EQ(add(1, 1), "accepted");
}

/// Returns the mean loss of a call whose micro-batches have `losses`. With a `period` that is
/// longer than the call, mode every_n returns no outputs. `seed` decides which replicas come first.
double mean_loss(OutputMode mode, std::int64_t period, std::int64_t replicas, unsigned seed,
                 const std::vector<Tensor>& losses) {
  auto setup = setup_for(mode, period, replicas);
  graph::Plan plan;
  plan.outputs = {{"loss", {DType::f32, losses[0].shape()}}};
  plan.loss = 0;
  setup->plan = std::make_shared<const graph::Plan>(std::move(plan));
  OutputCollector collector(setup);
  const std::int64_t micro_batches = std::ssize(losses) / replicas;
  std::vector<std::size_t> order(losses.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return (a % static_cast<std::size_t>(replicas) + seed) % 2 <
           (b % static_cast<std::size_t>(replicas) + seed) % 2;
  });
  double mean = 0;
  for (int call = 0; call < 2; ++call) {
    collector.begin(micro_batches);
    for (const std::size_t i : order)
      collector.add(0, static_cast<std::int64_t>(i) % replicas,
                    static_cast<std::int64_t>(i) / replicas, losses[i]);
    mean = collector.outcome().mean_loss;
  }
  return mean;
}

TEST(OutputCollector, HasTheMeanLossOfEveryMicroBatchWhateverItReturns) {
  // The losses are numbers whose sum in double depends on the order of addition.
  std::vector<Tensor> losses;
  double sum = 0;
  for (int i = 0; i < 12; ++i) {
    losses.push_back(Tensor({}, {i % 3 == 0 ? 1e17f : 0.1f * static_cast<float>(i)}));
    sum += double{losses.back().item()};
  }
  for (const OutputMode mode :
       {OutputMode::all, OutputMode::final, OutputMode::every_n, OutputMode::sum})
    for (const unsigned seed : {0u, 1u})
      EXPECT_EQ(mean_loss(mode, 100, 2, seed, losses), sum / 12) << to_string(mode);
}

TEST(OutputCollector, TakesTheMeanOfTheTermsOfALossThatIsNotReduced) {
  EXPECT_EQ(mean_loss(OutputMode::final, 1, 1, 0, {Tensor({3}, {1, 2, 6}), Tensor({3}, {4, 5, 6})}),
            4);
}

TEST(OutputCollector, HasNoMeanLossInInference) {
  OutputCollector collector(setup_for(OutputMode::all, 1, 1));
  collector.begin(2);
  add_all(collector, 2, 1, 0);
  EXPECT_TRUE(std::isnan(collector.outcome().mean_loss));
}

}  // namespace
}  // namespace penstock::actors
