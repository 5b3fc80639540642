#include "actors/host/update_latch.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace penstock::actors {
namespace {

TEST(UpdateLatch, LetsNoUpdateBeginOnceClosed) {
  UpdateLatch updates;
  ASSERT_TRUE(updates.begin());
  updates.close();
  EXPECT_TRUE(updates.under_way()) << "the one under way may end";
  updates.end();
  EXPECT_FALSE(updates.begin());
  EXPECT_FALSE(updates.under_way());
}

TEST(UpdateLatch, IsWaitedForUntilTheUpdateEnds) {
  UpdateLatch updates;
  EXPECT_TRUE(updates.await_end(3600)) << "none is under way";
  ASSERT_TRUE(updates.begin());
  updates.close();
  EXPECT_FALSE(updates.await_end(0));
  bool ended = false;
  std::thread engine([&] {
    ended = true;
    updates.end();
  });
  EXPECT_TRUE(updates.await_end(3600));
  EXPECT_TRUE(ended);
  engine.join();
}

TEST(UpdateLatch, IsNotWaitedForOnceTheUpdateIsCut) {
  UpdateLatch updates;
  updates.cut();
  ASSERT_TRUE(updates.begin());
  EXPECT_FALSE(updates.await_end(0)) << "it was not under way then";
  std::thread engine([&] { updates.cut(); });
  for (int twice = 0; twice < 2; ++twice) EXPECT_TRUE(updates.await_end(3600));
  EXPECT_TRUE(updates.under_way()) << "it has not ended";
  engine.join();
}

}  // namespace
}  // namespace penstock::actors
