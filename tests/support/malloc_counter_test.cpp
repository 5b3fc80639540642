#include "tests/support/malloc_counter.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>

namespace penstock::testing {
namespace {

TEST(MallocCounter, CountsWhatOperatorNewAndLibrariesAskFor) {
  // Without a volatile variable, the compiler may leave out an allocation that nothing uses.
  void* volatile block = nullptr;
  const std::uint64_t start = malloc_bytes();
  block = std::malloc(1000);
  EXPECT_EQ(malloc_bytes(), start + 1000);
  block = std::realloc(block, 300);
  std::free(block);
  block = std::calloc(10, 7);
  std::free(block);
  EXPECT_EQ(malloc_bytes(), start + 1370);
  const std::uint64_t before = malloc_bytes();
  block = new char[5000];
  delete[] static_cast<char*>(block);
  EXPECT_GE(malloc_bytes(), before + 5000);
  const std::uint64_t before_zlib = malloc_bytes();
  z_stream stream{};
  ASSERT_EQ(inflateInit(&stream), Z_OK);
  inflateEnd(&stream);
  EXPECT_GT(malloc_bytes(), before_zlib + 1000);
}

}  // namespace
}  // namespace penstock::testing
