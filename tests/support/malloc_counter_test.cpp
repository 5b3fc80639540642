#include "tests/support/malloc_counter.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>

namespace penstock::testing {
namespace {

TEST(MallocCounter, CountsWhatOperatorNewAndLibrariesAskFor) {
  if (!counts_malloc()) return;
  const std::uint64_t start = malloc_bytes();
  std::free(std::malloc(1000));
  EXPECT_EQ(malloc_bytes(), start + 1000);
  std::free(std::realloc(std::calloc(10, 7), 300));
  EXPECT_EQ(malloc_bytes(), start + 1370);
  const std::uint64_t before = malloc_bytes();
  delete[] new char[5000];
  EXPECT_GE(malloc_bytes(), before + 5000);
  const std::uint64_t before_zlib = malloc_bytes();
  z_stream stream{};
  ASSERT_EQ(inflateInit(&stream), Z_OK);
  inflateEnd(&stream);
  EXPECT_GT(malloc_bytes(), before_zlib + 1000);
}

}  // namespace
}  // namespace penstock::testing
