#include "actors/host/bell.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace penstock::actors {
namespace {

TEST(Bell, WakesWhoeverWaitsFromAnotherThread) {
  Bell bell;
  std::atomic<bool> happened = false;
  std::thread other([&] {
    happened = true;
    bell.ring();
  });
  EXPECT_TRUE(bell.wait(3600, [&] { return happened.load(); }));
  other.join();
}

// The bell rings during a call of `happened`, before wait() waits. A bell that did not count its
// rings would lose that ring.
TEST(Bell, LosesNoRingThatComesWhileSomebodyLooks) {
  Bell bell;
  int looks = 0;
  EXPECT_TRUE(bell.wait(3600, [&] {
    if (++looks == 2) return true;
    std::thread([&] { bell.ring(); }).join();
    return false;
  }));
  EXPECT_EQ(looks, 2);
}

TEST(Bell, WaitsOnWhileWhatItRingsForIsSomethingElse) {
  Bell bell;
  int looks = 0;
  EXPECT_TRUE(bell.wait(3600, [&] {
    std::thread([&] { bell.ring(); }).join();
    return ++looks == 100;
  }));
}

TEST(Bell, LooksOnceMoreWhenTheTimeIsUp) {
  Bell bell;
  int looks = 0;
  EXPECT_TRUE(bell.wait(0, [&] { return ++looks == 2; }));
  EXPECT_FALSE(bell.wait(0, [] { return false; }));
}

}  // namespace
}  // namespace penstock::actors
