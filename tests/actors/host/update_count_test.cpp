#include "actors/host/update_count.hpp"

#include <gtest/gtest.h>

namespace penstock::actors {
namespace {

TEST(UpdateCount, CountsAnUpdateOnceAllStagesHaveDoneIt) {
  const auto shared = std::make_shared<std::atomic<std::uint64_t>>(7);
  UpdateCount count(3, shared);
  for (std::uint64_t updates = 7; updates < 10; ++updates) {
    for (int stage = 0; stage < 3; ++stage) {
      EXPECT_EQ(count.total(), updates);
      count.count_stage();
    }
    EXPECT_EQ(*shared, updates + 1) << "others read it there";
  }
  count.set(40);
  EXPECT_EQ(*shared, 40U);
}

TEST(UpdateCount, BeginsWithoutAnyWhereNobodyReadsIt) {
  UpdateCount count(1);
  EXPECT_EQ(count.total(), 0U);
  count.count_stage();
  EXPECT_EQ(count.total(), 1U);
}

// The stages that a failed pipeline has counted do not count for an update of another pipeline.
TEST(UpdateCount, CountsNoStagesOfAnotherPipeline) {
  const auto shared = std::make_shared<std::atomic<std::uint64_t>>(0);
  UpdateCount failed(2, shared);
  failed.count_stage();
  UpdateCount next(2, shared);
  next.count_stage();
  EXPECT_EQ(*shared, 0U);
  next.count_stage();
  EXPECT_EQ(*shared, 1U);
}

}  // namespace
}  // namespace penstock::actors
