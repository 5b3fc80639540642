#include "actors/host/failure_latch.hpp"

#include <gtest/gtest.h>

#include <new>

#include "tests/support/allocation_counter.hpp"
#include "tests/support/refusal.hpp"

namespace penstock::actors {
namespace {

using testing::AllocationFailures;
using testing::FailsOn;
using testing::refusal;

struct Latch {
  Bell bell;
  UpdateLatch updates;
  FailureLatch failure{bell, updates};
};

/// This text is so long that a std::string allocates memory for it.
const std::string long_failure = "the gate: no gradient has come, and none will come any more";

TEST(FailureLatch, KeepsTheFirstFailure) {
  Latch latch;
  EXPECT_FALSE(latch.failure.failed());
  EXPECT_EQ(latch.failure.text(), "");
  latch.failure.expect_none();
  latch.failure.fail({Errc::stage_failed, "first"});
  latch.failure.fail({Errc::internal, "second"});
  EXPECT_TRUE(latch.failure.failed());
  EXPECT_EQ(latch.failure.text(), "first");
  EXPECT_EQ(refusal(Errc::stage_failed, [&] { latch.failure.expect_none(); }), "first");
}

TEST(FailureLatch, ThrowsAFailureAsItselfOnceAndThenAsClosed) {
  Latch latch;
  EXPECT_FALSE(latch.failure.untold());
  latch.failure.fail({Errc::out_of_memory, long_failure});
  EXPECT_EQ(latch.failure.untold()->what(), long_failure);
  EXPECT_EQ(latch.failure.untold()->code(), Errc::out_of_memory);
  EXPECT_EQ(refusal(Errc::out_of_memory, [&] { latch.failure.expect_none(); }), long_failure);
  EXPECT_FALSE(latch.failure.untold());
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(refusal(Errc::closed, [&] { latch.failure.expect_none(); }),
              "the model has failed before and cannot go on: " + long_failure);
}

TEST(FailureLatch, KeepsAFailureUntilThereIsMemoryToThrowIt) {
  Latch latch;
  latch.failure.fail({Errc::stage_failed, long_failure});
  {
    const AllocationFailures none(1, 1000, FailsOn::this_thread);
    EXPECT_THROW(latch.failure.expect_none(), std::bad_alloc);
  }
  EXPECT_EQ(refusal(Errc::stage_failed, [&] { latch.failure.expect_none(); }), long_failure);
}

TEST(FailureLatch, LetsNoUpdateBeginAfterAFailure) {
  Latch latch;
  EXPECT_TRUE(latch.updates.begin());
  latch.updates.end();
  latch.failure.fail({Errc::internal, "bad"});
  EXPECT_FALSE(latch.updates.begin());
}

TEST(FailureLatch, CutsAnUpdateOnlyByAFailureThatStopsIt) {
  Latch latch;
  ASSERT_TRUE(latch.updates.begin());
  latch.failure.fail({Errc::internal, "bad"});
  EXPECT_FALSE(latch.updates.await_end(0)) << "it is finished whatever has failed";
  latch.failure.fail({.code = Errc::internal, .text = "worse", .stops_update = true});
  EXPECT_TRUE(latch.updates.await_end(3600));
  EXPECT_TRUE(latch.updates.under_way()) << "it has not ended";
  EXPECT_EQ(latch.failure.text(), "bad");
}

TEST(FailureLatch, RingsWithAFailure) {
  Latch latch;
  bool first = true;
  EXPECT_TRUE(latch.bell.wait(3600, [&] {
    if (std::exchange(first, false)) {
      latch.failure.fail({Errc::internal, "bad"});
      return false;
    }
    return latch.failure.failed();
  }));
}

}  // namespace
}  // namespace penstock::actors
