#include "graph/compile/balance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

namespace penstock::graph {
namespace {

using Begins = std::vector<std::int32_t>;

/// A Score is what a cut is judged by: the cost of the slowest stage, and the bytes that cross the
/// cuts.
struct Score {
  double slowest = 0;
  std::int64_t bytes = 0;
};

Score score(const Balance& problem, const Begins& begins) {
  Score result;
  for (std::size_t stage = 0; stage < begins.size(); ++stage) {
    const auto end = stage + 1 < begins.size() ? static_cast<std::size_t>(begins[stage + 1])
                                               : problem.costs.size();
    const auto begin = static_cast<std::size_t>(begins[stage]);
    double cost = 0;
    for (std::size_t atom = begin; atom < end; ++atom) {
      cost += problem.costs[atom];
      if (!problem.dearer.empty() && problem.dearer[stage]) cost += problem.extra_costs[atom];
    }
    result.slowest = std::max(result.slowest, cost);
    if (stage > 0) result.bytes += problem.bytes_before[begin];
  }
  return result;
}

bool fits(const Balance& problem, const Begins& begins) {
  if (!problem.fits) return true;
  for (std::size_t stage = 0; stage < begins.size(); ++stage) {
    const auto end = stage + 1 < begins.size() ? begins[stage + 1]
                                               : static_cast<std::int32_t>(problem.costs.size());
    if (!problem.fits(begins[stage], end, static_cast<std::int32_t>(stage))) return false;
  }
  return true;
}

/// Returns every cut of the atoms into the problem's number of stages whose stages all fit.
std::vector<Begins> all_cuts(const Balance& problem) {
  std::vector<bool> begins_stage(problem.costs.size() - 1);
  std::fill_n(begins_stage.begin(), problem.stages - 1, true);
  std::vector<Begins> cuts;
  do {
    Begins begins{0};
    for (std::size_t i = 0; i < begins_stage.size(); ++i)
      if (begins_stage[i]) begins.push_back(static_cast<std::int32_t>(i) + 1);
    if (fits(problem, begins)) cuts.push_back(begins);
  } while (std::prev_permutation(begins_stage.begin(), begins_stage.end()));
  return cuts;
}

/// Returns the score of the best cut. This is, among the cuts that are fast enough and have the
/// least bytes, the fastest one.
Score best_of_all(const Balance& problem, const std::vector<Begins>& cuts) {
  double fastest = score(problem, cuts[0]).slowest;
  for (const Begins& cut : cuts) fastest = std::min(fastest, score(problem, cut).slowest);
  std::vector<std::pair<std::int64_t, double>> allowed;
  for (const Begins& cut : cuts)
    if (const Score s = score(problem, cut); s.slowest <= fastest * (1 + problem.tolerance))
      allowed.emplace_back(s.bytes, s.slowest);
  const auto [bytes, slowest] = *std::ranges::min_element(allowed);
  return {slowest, bytes};
}

/// Returns a random problem. Costs are small whole numbers, so that sums are exact and ties are
/// common.
Balance random_problem(std::mt19937& random) {
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  Balance problem;
  const int atoms = draw(1, 11);
  for (int i = 0; i < atoms; ++i) {
    problem.costs.push_back(draw(0, 9));
    problem.bytes_before.push_back(draw(0, 5));
  }
  problem.stages = draw(1, atoms);
  problem.tolerance = draw(0, 2) * 0.25;
  return problem;
}

void expect_best(const Balance& problem) {
  const auto cuts = all_cuts(problem);
  const auto chosen = balance(problem);
  ASSERT_EQ(chosen.has_value(), !cuts.empty());
  if (!chosen) return;
  EXPECT_EQ(std::ranges::count(cuts, *chosen), 1) << "is no legal cut";
  const Score got = score(problem, *chosen), best = best_of_all(problem, cuts);
  EXPECT_EQ(got.bytes, best.bytes);
  EXPECT_EQ(got.slowest, best.slowest);
}

TEST(Balance, IsAsGoodAsTheBestOfAllCuts) {
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    SCOPED_TRACE(i);
    expect_best(random_problem(random));
  }
}

TEST(Balance, IsAsGoodAsTheBestOfThoseThatFit) {
  std::mt19937 random(2);
  int without = 0;
  for (int i = 0; i < 500; ++i) {
    SCOPED_TRACE(i);
    Balance problem = random_problem(random);
    // How many atoms fit into a stage depends on the stage's number and on its first atom.
    problem.fits = [room = i % 7](std::int32_t first, std::int32_t last, std::int32_t stage) {
      return (last - first) * (1 + (first + stage) % 3) <= room + 3 - stage % 2;
    };
    expect_best(problem);
    without += balance(problem) ? 0 : 1;
  }
  EXPECT_GT(without, 20) << "problems without a cut that fits";
  EXPECT_LT(without, 480);
}

TEST(Balance, CountsWhatSomeStagesCostOnTop) {
  EXPECT_EQ(balance({.costs = {3, 3, 3, 3}, .bytes_before = {0, 0, 0, 0}, .stages = 2}),
            (Begins{0, 2}));
  EXPECT_EQ(balance({.costs = {3, 3, 3, 3},
                     .extra_costs = {6, 6, 6, 6},
                     .dearer = {true, false},
                     .bytes_before = {0, 0, 0, 0},
                     .stages = 2}),
            (Begins{0, 1}));
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    SCOPED_TRACE(i);
    Balance problem = random_problem(random);
    for (std::size_t atom = 0; atom < problem.costs.size(); ++atom)
      problem.extra_costs.push_back(static_cast<double>((atom + static_cast<std::size_t>(i)) % 4));
    for (std::int32_t stage = 0; stage < problem.stages; ++stage)
      problem.dearer.push_back((stage + i) % 3 != 0);
    expect_best(problem);
  }
}

TEST(Balance, TakesTheCheaperPlaceAmongEqualCuts) {
  const Balance problem{.costs = {2, 0, 2}, .bytes_before = {0, 9, 4}, .stages = 2};
  EXPECT_EQ(balance(problem), (Begins{0, 2}));
}

TEST(Balance, TradesATolerableImbalanceForFewerBytes) {
  Balance problem{.costs = {10, 1, 10}, .bytes_before = {0, 1, 100}, .stages = 2};
  problem.costs[0] = 10.1;
  EXPECT_EQ(balance(problem), (Begins{0, 1}));
  problem.costs[0] = 9.9;
  EXPECT_EQ(balance(problem), (Begins{0, 2}));
  problem.tolerance = 0.02;
  EXPECT_EQ(balance(problem), (Begins{0, 1}));
}

TEST(Balance, FindsNoCutIntoMoreStagesThanPieces) {
  EXPECT_EQ(balance({.costs = {1, 2}, .bytes_before = {0, 0}, .stages = 2}), (Begins{0, 1}));
  EXPECT_EQ(balance({.costs = {1, 2}, .bytes_before = {0, 0}, .stages = 3}), std::nullopt);
}

}  // namespace
}  // namespace penstock::graph
