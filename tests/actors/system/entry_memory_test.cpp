// These tests check, with the C library's own allocator, the memory that is kept back for a thread
// that destroys an actor system. They are a program of their own, because in a larger program, a
// thread could get the memory that an earlier thread has left behind.

#include "actors/system/actor_system.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/forked.hpp"
#include "tests/support/without_memory_left.hpp"

namespace penstock::actors {
namespace {

using testing::exit_code_of_fork;
using testing::Outcome;
using testing::without_memory_left;

Outcome outcome(bool has_entered) {
  return has_entered ? testing::worked : testing::refused;
}

TEST(EntryMemory, IsWhatAThreadThatHasAllocatedNothingLacks) {
  EXPECT_EQ(exit_code_of_fork(
                [] { return without_memory_left([] { return outcome(try_to_enter_caf()); }); }),
            testing::refused);
}

TEST(EntryMemory, ReachesAThreadThatHasAllocatedNothing) {
  EXPECT_EQ(exit_code_of_fork([] {
              EntryMemory memory;
              return without_memory_left([&] { return outcome(memory.enter_caf_with_it()); });
            }),
            testing::worked);
}

TEST(EntryMemory, LetsSuchAThreadDestroyASystem) {
  EXPECT_EQ(exit_code_of_fork([] {
              auto system = std::make_unique<ActorSystem>(SystemOptions{.threads = 1});
              return without_memory_left([&] {
                system.reset();
                return testing::worked;
              });
            }),
            testing::worked);
}

TEST(EntryMemory, IsNotNeededByAThreadThatHasEnteredBefore) {
  EXPECT_EQ(exit_code_of_fork([] {
              enter_caf();
              if (!testing::take_all_memory()) return testing::memory_is_left;
              return outcome(try_to_enter_caf());
            }),
            testing::worked);
}

}  // namespace
}  // namespace penstock::actors
