#include "actors/loader/loader_buffers.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "graph/values/memory.hpp"

namespace penstock::actors {
namespace {

TEST(LoaderBuffers, LendAgainWhatNobodyHoldsAnyMore) {
  LoaderBuffers buffers({100, 8});
  EXPECT_EQ(buffers.reuse(), nullptr);
  auto first = buffers.allocate();
  EXPECT_EQ(first->size(), 2u);
  const auto* memory = first->front().get();
  auto copy = first;
  first.reset();
  EXPECT_EQ(buffers.reuse(), nullptr);
  copy.reset();
  const auto again = buffers.reuse();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->front().get(), memory);
  EXPECT_EQ(buffers.reuse(), nullptr);
  EXPECT_EQ(buffers.allocated(), 1);
}

TEST(LoaderBuffers, LeaveWhatIsLentToItsHolder) {
  const auto before = memory_counters().bytes_live;
  std::shared_ptr<const BatchBuffer> lent;
  {
    LoaderBuffers buffers({100});
    lent = buffers.allocate();
    buffers.allocate();  // This buffer is given back at once.
    EXPECT_EQ(memory_counters().bytes_live, before + 256);
  }
  EXPECT_EQ(memory_counters().bytes_live, before + 128);
  lent.reset();
  EXPECT_EQ(memory_counters().bytes_live, before);
}

TEST(LoaderBuffers, GiveBackWhatAConsumerHeldOnceAndDoesNotHoldAnyMore) {
  const auto before = memory_counters().bytes_live;
  LoaderBuffers buffers({64});
  {
    std::vector<std::shared_ptr<const BatchBuffer>> held;
    for (int i = 0; i < 50; ++i) held.push_back(buffers.allocate());
  }
  EXPECT_EQ(memory_counters().bytes_live, before + 50 * 64);
  for (std::uint64_t i = 0; i <= LoaderBuffers::idle_lends; ++i) {
    buffers.trim(3);
    ASSERT_NE(buffers.reuse(), nullptr);
  }
  EXPECT_EQ(memory_counters().bytes_live, before + 50 * 64) << "not too soon";
  buffers.trim(3);
  EXPECT_EQ(memory_counters().bytes_live, before + 3 * 64) << "what is usual stays";
  EXPECT_EQ(buffers.allocated(), 3);
}

}  // namespace
}  // namespace penstock::actors
