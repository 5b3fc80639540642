#include "tests/support/allocation_counter.hpp"

#include <gtest/gtest.h>

#include <new>
#include <string>
#include <thread>
#include <vector>

namespace penstock::testing {
namespace {

/// Asks for `count` allocations, which the compiler cannot leave out. The result has a plus for
/// each allocation that succeeded and a minus for each one that failed. `count` must be so small
/// that the text of the result needs no allocation itself.
std::string allocate(int count) {
  std::string had;
  for (int i = 0; i < count; ++i) {
    void* const block = i % 2 ? ::operator new(8, std::nothrow)
                              : ::operator new (64, std::align_val_t{64}, std::nothrow);
    had += block ? '+' : '-';
    if (i % 2)
      ::operator delete(block);
    else
      ::operator delete (block, std::align_val_t{64});
  }
  return had;
}

TEST(AllocationFailures, AreThoseAskedForAndNoOthers) {
  {
    const AllocationFailures failures(2, 2);
    EXPECT_EQ(allocate(5), "+--++");
    EXPECT_TRUE(failures.reached());
  }
  EXPECT_EQ(allocate(3), "+++");
}

TEST(AllocationFailures, ThrowWhereTheCallerExpectsThat) {
  const AllocationFailures failures(1, 2);
  EXPECT_THROW(::operator delete(::operator new(8)), std::bad_alloc);
  EXPECT_THROW(::operator delete (::operator new (64, std::align_val_t{64}), std::align_val_t{64}),
               std::bad_alloc);
  EXPECT_NO_THROW(::operator delete(::operator new(8)));
}

TEST(AllocationFailures, ReachEveryThread) {
  bool failed = false;
  std::thread other([&] {
    const AllocationFailures failures(1);
    try {
      ::operator delete(::operator new(8));
    } catch (const std::bad_alloc&) {
      failed = true;
    }
  });
  other.join();
  EXPECT_TRUE(failed);
}

TEST(AllocationFailures, ComeOneAfterTheOther) {
  std::vector<std::int64_t> firsts;
  firsts.reserve(64);
  int failed = 0;
  const auto attempt = [&](std::int64_t first) {
    firsts.push_back(first);
    for (int i = 0; i < 4; ++i) {
      void* const block = ::operator new(8, std::nothrow);
      failed += block == nullptr;
      ::operator delete(block);
    }
  };
  EXPECT_EQ(fail_each_allocation(attempt), 4);
  EXPECT_EQ(firsts, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(failed, 4);
  EXPECT_EQ(fail_each_allocation(attempt, {.count = 2, .stride = 2}), 2);
  EXPECT_EQ(failed, 8);
}

}  // namespace
}  // namespace penstock::testing
