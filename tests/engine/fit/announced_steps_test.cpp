#include "engine/fit/announced_steps.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace penstock {
namespace {

constexpr std::int64_t trillion = 1'000'000'000'000;
constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

/// Returns what announced_steps() has to return: the number of steps in which `updates` updates are
/// done, or `most` if that is less. Counts the steps one by one.
std::int64_t counted(const UpdatesOfData& data, std::int64_t updates, std::int64_t most) {
  std::int64_t steps = 0;
  for (std::int64_t taken = data.taken; updates > 0 && steps < most; ++steps) {
    taken = taken == data.batches ? 1 : taken + 1;
    updates -= taken == data.batches ? data.updates_of_last : data.updates_per_batch;
  }
  return steps;
}

TEST(AnnouncedSteps, AreThoseThatOneCounts) {
  for (std::int64_t batches = 0; batches < 5; ++batches)
    for (std::int64_t each = 1; each < 4; ++each)
      for (std::int64_t last = 1; last < 4; ++last)
        for (std::int64_t taken = 0; taken <= batches; ++taken)
          for (std::int64_t updates = 0; updates < 40; ++updates)
            for (const std::int64_t most : {std::int64_t{7}, no_end}) {
              const UpdatesOfData data{batches, each, last, taken};
              ASSERT_EQ(announced_steps(data, updates, most), counted(data, updates, most))
                  << batches << " batches of " << each << ", " << last << " in the last, after "
                  << taken << ", for " << updates;
            }
}

TEST(AnnouncedSteps, TakeNoLongerForMoreOfThem) {
  EXPECT_EQ(announced_steps({10, 1, 1, 0}, trillion, no_end), trillion);
  EXPECT_EQ(announced_steps({10, 2, 1, 3}, 19 * trillion, no_end), 10 * trillion);
  EXPECT_EQ(announced_steps({trillion, 4, 2, 0}, no_end, trillion), trillion);
  EXPECT_EQ(announced_steps({no_end, no_end, no_end, 0}, no_end, no_end), 1);
  EXPECT_EQ(announced_steps({0, 1, 1, 0}, no_end, no_end), no_end);
}

}  // namespace
}  // namespace penstock
