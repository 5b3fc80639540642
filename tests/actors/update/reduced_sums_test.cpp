#include "actors/update/reduced_sums.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "graph/values/memory.hpp"
#include "tests/actors/update/counting_runner.hpp"

namespace penstock::actors {
namespace {

using graph::in_host_store;
using graph::Location;
using graph::Space;
// Ranges have the offset and the place of each range, in bytes.
using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Returns a setup of one stage that has sums of 40, `large` and 30 elements on its IPU, and a sum
/// of 50 elements in the host store. Replicas divide parameters of `least_divided` elements or
/// more.
PipelineSetup setup(std::int64_t least_divided, std::int64_t large = 64) {
  graph::Plan plan;
  graph::StagePlan& stage = plan.stages.emplace_back();
  std::int64_t offset = 0;
  for (const std::int64_t elements :
       {std::int64_t{40}, large, std::int64_t{30}, std::int64_t{50}}) {
    const Location home = elements == 50 ? Location{.space = Space::host_accumulators}
                                         : Location{.space = Space::accumulators, .offset = offset};
    const graph::TensorType type{DType::f32, {elements}};
    graph::VariablePlan variable{.variable = static_cast<std::int32_t>(stage.variables.size()),
                                 .type = type,
                                 .trainable = true};
    variable.gradients.push_back({.stage = 0, .home = home});
    stage.variables.push_back(variable);
    if (!in_host_store(home.space)) offset += (type.bytes() + 63) / 64 * 64;
  }
  stage.accumulator_bytes = offset;
  stage.host_accumulator_bytes = 256;
  PipelineSetup setup{.plan = std::make_shared<const graph::Plan>(std::move(plan)), .replicas = 2};
  setup.sharding.optimizer_state = {.on = true, .minimum_elements = least_divided};
  return setup;
}

UpdateRules rules() {
  const graph::ParameterRule rule{&graph::find_optimizer_rule("adamw"), {}};
  return {.variables = {4, rule}};
}

Ranges parts_of(const ReducedLayout& layout) {
  Ranges ranges;
  for (const ReducedRange& range : layout.ranges) ranges.emplace_back(range.offset, range.place);
  return ranges;
}

TEST(ReducedSums, AreTheBlockAsItIsWhereNothingIsDivided) {
  const ReducedLayout on_ipu = reduced_layout(setup(1000), rules(), 0, Space::accumulators);
  EXPECT_EQ(parts_of(on_ipu), (Ranges{{0, 0}}));
  EXPECT_EQ(on_ipu.bytes, 192 + 256 + 128);
  EXPECT_EQ(reduced_layout(setup(1000), rules(), 0, Space::host_accumulators).bytes, 256);
}

TEST(ReducedSums, LeaveOutWhatReplicasDivide) {
  const PipelineSetup pipeline = setup(60);
  const ReducedLayout on_ipu = reduced_layout(pipeline, rules(), 0, Space::accumulators);
  EXPECT_EQ(parts_of(on_ipu), (Ranges{{0, 0}, {192 + 256, 192}}));
  EXPECT_EQ(on_ipu.bytes, 192 + 128);
  EXPECT_EQ(reduced_layout(pipeline, rules(), 0, Space::host_accumulators).bytes, 256);
}

/// Replicas are replicas of a stage that keeps a large tensor of gradient sums. At first, the sums
/// have not been added up.
struct Replicas {
  explicit Replicas(std::int64_t replicas, std::int64_t least_divided) {
    const PipelineSetup pipeline = setup(least_divided, large);
    sums = {reduced_layout(pipeline, rules(), 0, Space::accumulators),
            reduced_layout(pipeline, rules(), 0, Space::host_accumulators),
            {}};
    for (std::int64_t replica = 0; replica < replicas; ++replica) {
      sums.replicas.push_back(std::make_shared<Arena>(pipeline.plan, 0, 1));
      fill(sums.replicas.back()->accumulators(), replica);
      fill(sums.replicas.back()->host_accumulators(), replica);
    }
  }

  /// Fills the `block` of replica number `replica` with numbers whose sum over the replicas depends
  /// on the order of addition.
  static void fill(std::span<std::byte> block, std::int64_t replica) {
    auto* const element = reinterpret_cast<float*>(block.data());
    for (std::size_t i = 0; i < block.size() / sizeof(float); ++i)
      element[i] = replica % 2 == 0 ? 1e8f : -1e8f + static_cast<float>(i % 1000) * 3.7f;
  }

  /// Returns the first replica's sums, which are totals once they are added up.
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> all;
    for_each_range([&](const ReducedRange& range, bool on_host) {
      const auto sums_of_range = sums_of(0, on_host)
                                     .subspan(static_cast<std::size_t>(range.offset),
                                              static_cast<std::size_t>(range.bytes));
      all.insert(all.end(), sums_of_range.begin(), sums_of_range.end());
    });
    return all;
  }

  /// Returns what the totals have to be if each element is added up in the order of the replicas.
  std::vector<std::byte> by_hand() const {
    std::vector<std::byte> all;
    for_each_range([&](const ReducedRange& range, bool on_host) {
      for (std::int64_t at = 0; at < range.bytes; at += 4) {
        float sum = 0;
        for (std::size_t replica = 0; replica < sums.replicas.size(); ++replica) {
          float one;
          std::memcpy(&one, sums_of(replica, on_host).data() + range.offset + at, sizeof one);
          sum = replica == 0 ? one : sum + one;
        }
        const auto* const bytes = reinterpret_cast<const std::byte*>(&sum);
        all.insert(all.end(), bytes, bytes + sizeof sum);
      }
    });
    return all;
  }

  std::span<std::byte> sums_of(std::size_t replica, bool on_host) const {
    Arena& arena = *sums.replicas[replica];
    return on_host ? arena.host_accumulators() : arena.accumulators();
  }

  template <class Visit>
  void for_each_range(Visit visit) const {
    for (const bool on_host : {false, true})
      for (const ReducedRange& range : (on_host ? sums.in_host_store : sums.on_ipu).ranges)
        visit(range, on_host);
  }

  static constexpr std::int64_t large = 300'003;
  ReducedSums sums;
};

TEST(ReducedSums, AreAddedUpInTheOrderOfTheReplicasWhoeverDoesIt) {
  for (const std::int64_t replicas : {2, 3, 5})
    for (const std::int64_t least_divided : {45, 1'000'000})
      for (const std::int32_t threads : {1, 3}) {
        Replicas of(replicas, least_divided);
        const std::vector<std::byte> expected = of.by_hand();
        graph::Heartbeat heartbeat;
        CountingRunner runner;
        for (std::int64_t slice = replicas; slice-- > 0;) {
          const std::uint64_t before = heartbeat.beats();
          add_up_slice(of.sums, slice, {&runner, threads}, &heartbeat);
          EXPECT_GT(heartbeat.beats(), before);
        }
        EXPECT_EQ(of.bytes(), expected) << replicas << " replicas, " << threads << " threads";
        EXPECT_EQ(runner.count > 0, threads > 1 && least_divided > Replicas::large)
            << "what is small is not worth the while";
      }
}

TEST(ReducedSums, AreDividedEquallyAndEachIsMadeByOne) {
  constexpr std::int64_t replicas = 3;
  std::vector<std::size_t> made;
  std::set<std::size_t> places;
  for (std::int64_t slice = 0; slice < replicas; ++slice) {
    Replicas of(replicas, 1'000'000);
    const std::vector<std::byte> before = of.bytes(), all = of.by_hand();
    add_up_slice(of.sums, slice, {}, nullptr);
    const std::vector<std::byte> after = of.bytes();
    std::size_t count = 0;
    for (std::size_t line = 0; line < after.size(); line += 64) {
      if (std::memcmp(&after[line], &before[line], 64) == 0) continue;
      EXPECT_EQ(std::memcmp(&after[line], &all[line], 64), 0);
      EXPECT_TRUE(places.insert(line).second) << "twice";
      ++count;
    }
    made.push_back(count);
  }
  EXPECT_GT(made[0], 1000U);
  for (const std::size_t count : made)
    EXPECT_NEAR(static_cast<double>(count), static_cast<double>(made[0]), 4);
}

TEST(ReducedSums, AreNoneWhereAllIsDivided) {
  for (const Space space : {Space::accumulators, Space::host_accumulators}) {
    const ReducedLayout layout = reduced_layout(setup(2), rules(), 0, space);
    EXPECT_TRUE(layout.ranges.empty());
    EXPECT_EQ(layout.bytes, 0);
  }
}

}  // namespace
}  // namespace penstock::actors
