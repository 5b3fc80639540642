#include "graph/values/memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include "penstock/error.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/sanitized.hpp"

namespace penstock {
namespace {

constexpr std::size_t small = 4000, large = std::size_t{64} << 20;

std::size_t live() {
  return memory_counters().bytes_live;
}

/// Returns how many bytes of the process are in memory.
std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0, resident_pages = 0;
  file >> pages >> resident_pages;
  return resident_pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(TensorMemory, IsZeroedAlignedAndCountedUntilItIsFreed) {
  const std::size_t before = live();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, small, large, large + 1}) {
    for (int round = 0; round < 2; ++round) {
      const auto block = allocate_block(bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.get()) % tensor_alignment, 0U) << bytes;
      EXPECT_TRUE(std::all_of(block.get(), block.get() + bytes,
                              [](std::byte value) { return value == std::byte{0}; }))
          << bytes << ", round " << round;
      EXPECT_EQ(live() - before, static_cast<std::size_t>(aligned(
                                     std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes)))));
      std::fill_n(block.get(), bytes, std::byte{255});
    }
    EXPECT_EQ(live(), before);
  }
}

TEST(TensorMemory, OfLargeBlocksIsTakenWhereItIsWrittenAndGivenBackWhenFreed) {
  if (testing::sanitized) return;  // A sanitizer has memory of its own for each block.
  const std::size_t before = resident_bytes();
  constexpr std::size_t margin = large / 8;
  auto block = allocate_block(large);
  EXPECT_LT(resident_bytes(), before + margin);
  std::fill_n(block.get(), large / 2, std::byte{1});
  EXPECT_GT(resident_bytes() + margin, before + large / 2);
  EXPECT_LT(resident_bytes(), before + large / 2 + margin);
  block.reset();
  EXPECT_LT(resident_bytes(), before + margin);
}

TEST(TensorMemory, ThatIsNotThereIsRefused) {
  constexpr std::size_t too_many = std::size_t{1} << 60;
  EXPECT_EQ(testing::refusal(Errc::out_of_memory, [&] { allocate_block(too_many); }),
            "no memory for a tensor of " + std::to_string(too_many) + " bytes");
}

}  // namespace
}  // namespace penstock
