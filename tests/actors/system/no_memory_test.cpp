// These tests construct an actor system while there is no memory. They do so in a child process,
// whose exit code says whether the construction has ended the process.

#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "actors/system/actor_system.hpp"
#include "penstock/error.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/sanitized.hpp"

namespace penstock::actors {
namespace {

enum Outcome : int { not_reached, worked, refused, other_error };

Outcome outcome_of_a_system() {
  try {
    ActorSystem({.threads = 1});
  } catch (const std::bad_alloc&) {
    return refused;
  } catch (const Error& error) {
    return error.code() == Errc::out_of_memory ? refused : other_error;
  }
  return worked;
}

/// Returns the outcome of constructing a system while `count` allocations fail, beginning with
/// allocation number `first` of the constructor.
int outcome_with_failures(std::int64_t first, std::int64_t count) {
  const auto attempt = [&]() -> int {
    const testing::AllocationFailures failures(first, count);
    const Outcome outcome = outcome_of_a_system();
    return failures.reached() ? outcome : not_reached;
  };
  return testing::thread_sanitized ? attempt() : testing::exit_code_of_fork(attempt);
}

TEST(NoMemory, ForAnyRunOfAllocationsOfItsConstructorMeansThatASystemIsRefused) {
  using Counts = std::vector<std::int64_t>;
  for (const std::int64_t count : testing::sanitized ? Counts{2, 20} : Counts{1, 2, 3, 5, 20}) {
    std::int64_t first = 1;
    for (int outcome; (outcome = outcome_with_failures(first, count)) != not_reached; ++first)
      ASSERT_EQ(outcome, refused) << count << " failures from allocation " << first << " on";
    EXPECT_GT(first, 50) << "the constructor makes more allocations than the test has reached";
  }
}

}  // namespace
}  // namespace penstock::actors
