#include "actors/host/call_slot.hpp"

#include <gtest/gtest.h>

#include "tests/support/refusal.hpp"

namespace penstock::actors {
namespace {

using testing::refusal;

struct Slot {
  Bell bell;
  CallSlot call{bell};
};

TEST(CallSlot, HandsOverEachAnswerOnce) {
  Slot slot;
  EXPECT_FALSE(slot.call.awaits_answer());
  slot.call.begin();
  EXPECT_TRUE(slot.call.awaits_answer());
  EXPECT_FALSE(slot.call.answered());
  slot.call.answer(StepOutcome{.outputs = {Tensor({2}, {1.0f, 2.0f})}, .mean_loss = 1.5});
  EXPECT_TRUE(slot.call.answered());
  EXPECT_FALSE(slot.call.awaits_answer());
  EXPECT_EQ(std::get<StepOutcome>(*slot.call.end()).outputs.size(), 1u);
  EXPECT_FALSE(slot.call.answered());
  EXPECT_FALSE(slot.call.end());
}

TEST(CallSlot, HasOneCallAtATime) {
  Slot slot;
  slot.call.begin();
  for (const bool answered : {false, true}) {
    if (answered) slot.call.answer(CutAfter{3});
    EXPECT_NE(refusal(Errc::busy, [&] { slot.call.begin(); }), "accepted");
    EXPECT_NE(refusal(Errc::busy, [&] { slot.call.expect_none(); }), "accepted");
  }
  EXPECT_EQ(std::get<CutAfter>(*slot.call.end()).micro_batches, 3);
  slot.call.expect_none();
  slot.call.begin();
}

TEST(CallSlot, TakesNoAnswerOfAnEarlierCallForThatOfANewOne) {
  Slot slot;
  slot.call.begin();
  slot.call.end();
  slot.call.answer(Done{});
  slot.call.begin();
  EXPECT_TRUE(slot.call.awaits_answer());
}

TEST(CallSlot, RingsWithItsAnswer) {
  Slot slot;
  slot.call.begin();
  bool first = true;
  EXPECT_TRUE(slot.bell.wait(3600, [&] {
    if (std::exchange(first, false)) {
      slot.call.answer(Done{});
      return false;
    }
    return slot.call.answered();
  }));
}

}  // namespace
}  // namespace penstock::actors
