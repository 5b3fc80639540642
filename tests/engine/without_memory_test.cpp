// These tests check that expect_no_raw_exception() fails for each way in which a call may hide that
// it has no memory.
#include "tests/support/without_memory.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>

namespace penstock::testing {
namespace {

/// Allocates twice. If the second allocation fails, throws `refusal` or, if there is none, the
/// std::bad_alloc itself.
void allocate_twice(std::optional<Errc> refusal) {
  // A static pointer keeps compilers from leaving the allocation out.
  static std::unique_ptr<std::int64_t> kept;
  const auto allocate = [] { kept = std::make_unique<std::int64_t>(1); };
  try {
    allocate();
  } catch (const std::bad_alloc&) {
    throw Error(Errc::out_of_memory, "none");
  }
  try {
    allocate();
  } catch (const std::bad_alloc&) {
    if (!refusal) throw;
    throw Error(*refusal, "none");
  }
}

TEST(WithoutMemory, AcceptsCallsThatSayIt) {
  expect_no_raw_exception("accepted", [] { allocate_twice(Errc::out_of_memory); });
}

/// Refuses a call, or throws out_of_memory if there is no memory for the refusal's text.
void refuse() {
  try {
    throw Error(Errc::invalid_argument, "refused");
  } catch (const std::bad_alloc&) {
    throw Error(Errc::out_of_memory, "none");
  }
}

TEST(WithoutMemory, AcceptsTheRefusalThatACallMeetsWithMemory) {
  expect_no_raw_exception("refused", [] {
    allocate_twice(Errc::out_of_memory);
    refuse();
  });
}

TEST(WithoutMemory, FindsALackOfMemoryThatIsToldAsAnotherError) {
  EXPECT_FATAL_FAILURE(expect_no_raw_exception("told", [] { allocate_twice(Errc::internal); }),
                       "internal");
}

TEST(WithoutMemory, FindsARawException) {
  EXPECT_FATAL_FAILURE(expect_no_raw_exception("raw", [] { allocate_twice({}); }), "allocation 2");
}

/// Returns normally if memory is lacking, and refuses otherwise.
void hide_a_refusal() {
  try {
    allocate_twice(Errc::internal);
  } catch (const Error& error) {
    if (error.code() == Errc::internal) return;
    throw;
  }
  refuse();
}

TEST(WithoutMemory, FindsARefusalThatALackOfMemoryHides) {
  EXPECT_FATAL_FAILURE(expect_no_raw_exception("hidden", hide_a_refusal), "accepted");
}

TEST(WithoutMemory, FindsCallsThatAllocateNothing) {
  EXPECT_NONFATAL_FAILURE(expect_no_raw_exception("nothing", [] {}), "without_memory");
}

}  // namespace
}  // namespace penstock::testing
