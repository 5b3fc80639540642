#include "engine/joined_results.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock {
namespace {

/// Returns what a plan returns under `mode` after `count` micro-batches of `samples` samples: one
/// number for each sample, from `first` on.
SectionResult section(OutputMode mode, std::int64_t count, std::int64_t samples, float first,
                      double mean_loss) {
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < count * samples; ++i)
    numbers.push_back(first + static_cast<float>(i));
  const Tensor rows({count * samples}, std::span<const float>(numbers));
  return {count * samples,
          {.loss = rows,
           .outputs = {{"y", rows}},
           .anchors = {{"a", rows}},
           .rows = {.mode = mode, .micro_batches = {count, samples}},
           .mean_loss = mean_loss}};
}

void expect_counted(const Tensor& tensor, std::int64_t begin, std::int64_t end) {
  std::vector<float> expected;
  for (std::int64_t i = begin; i < end; ++i) expected.push_back(static_cast<float>(i));
  EXPECT_TRUE(std::ranges::equal(tensor.as<float>(), expected)) << begin << " to " << end;
}

void expect_micro_batches(const MicroBatches& actual, std::int64_t count, std::int64_t samples) {
  EXPECT_EQ(actual.count, count);
  EXPECT_EQ(actual.samples, samples);
}

const OutputOptions with_anchor{.anchors = {{.name = "a"}}};

TEST(JoinedResults, HaveAllRowsOfEveryPartOneAfterTheOther) {
  for (const bool training : {true, false}) {
    constexpr OutputMode all = OutputMode::all;
    const StepResult result =
        joined({section(all, 2, 3, 0, 1), section(all, 1, 3, 6, 1), section(all, 1, 2, 9, 1)},
               with_anchor, training);
    expect_counted(result.loss, 0, 11);
    expect_counted(result.outputs[0].tensor, 0, 11);
    expect_counted(result.anchors[0].tensor, 0, 11);
    expect_micro_batches(result.rows.shorter, 1, 2);
  }
}

TEST(JoinedResults, AreThoseOfTheLastPartWhereNotAllIsAskedFor) {
  constexpr OutputMode last = OutputMode::final;
  const auto join = [&](const OutputOptions& output) {
    return joined({section(last, 2, 3, 0, 1), section(last, 2, 2, 6, 1)}, output, true);
  };
  const StepResult result = join(with_anchor);
  expect_counted(result.loss, 6, 10);
  expect_counted(result.outputs[0].tensor, 6, 10);
  expect_counted(result.anchors[0].tensor, 6, 10);
  expect_micro_batches(result.rows.micro_batches, 2, 2);
  expect_micro_batches(result.rows.shorter, 0, 0);
  const StepResult of_anchor = join({.anchors = {{.name = "a", .mode = OutputMode::all}}});
  expect_counted(of_anchor.anchors[0].tensor, 0, 10);
  expect_counted(of_anchor.outputs[0].tensor, 6, 10);
}

TEST(JoinedResults, WeighTheMeanLossOfEachPartByItsSamples) {
  constexpr OutputMode last = OutputMode::final;
  const StepResult result =
      joined({section(last, 2, 3, 0, 1.5), section(last, 1, 2, 6, -4)}, with_anchor, true);
  EXPECT_EQ(result.mean_loss, (1.5 * 6 - 4.0 * 2) / 8);
  EXPECT_EQ(joined({section(last, 2, 3, 0, 0.1)}, with_anchor, true).mean_loss, 0.1);
}

TEST(JoinedResults, CountTheMicroBatchesOfAShortUpdateApartAndOfARunBySize) {
  constexpr OutputMode all = OutputMode::all;
  const auto rows = [&](bool training) {
    return joined({section(all, 2, 3, 0, 1), section(all, 1, 3, 6, 1)}, with_anchor, training).rows;
  };
  expect_micro_batches(rows(true).micro_batches, 2, 3);
  expect_micro_batches(rows(true).shorter, 1, 3);
  expect_micro_batches(rows(false).micro_batches, 3, 3);
  expect_micro_batches(rows(false).shorter, 0, 0);
}

TEST(JoinedResults, HaveNoLossInInference) {
  SectionResult one = section(OutputMode::all, 1, 2, 0, 1),
                other = section(OutputMode::all, 1, 1, 2, 1);
  one.result.loss = other.result.loss = {};
  const StepResult result = joined({one, other}, with_anchor, false);
  EXPECT_FALSE(result.loss);
  expect_counted(result.outputs[0].tensor, 0, 3);
}

}  // namespace
}  // namespace penstock
