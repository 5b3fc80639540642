// These tests check threads that have no memory for the variables that libraries keep for each
// thread: libstdc++'s, with which a thread prepares to throw, and CAF's. They run in forked
// processes, because the C library might end the process. They replace malloc() and calloc(),
// because the C library itself allocates with these functions.

#include <gtest/gtest.h>

#include <atomic>
#include <caf/event_based_actor.hpp>
#include <cstdlib>
#include <functional>
#include <new>
#include <thread>

#include "actors/system/actor_system.hpp"
#include "actors/threads/engine_thread.hpp"
#include "penstock/error.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/latch.hpp"

namespace {

std::atomic<bool> memory_is_out{false};
thread_local bool has_memory = false;  // If this is true, the thread gets memory nevertheless.

// While memory is out, each other thread still gets this many large blocks. For each of the two
// preparations, a thread asks whether there is a block of 32 KiB.
std::atomic<int> large_blocks{0};
thread_local int taken_blocks = 0;

bool is_refused(std::size_t bytes) {
  if (!memory_is_out || has_memory) return false;
  return bytes < (std::size_t{32} << 10) || ++taken_blocks > large_blocks;
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);

void* malloc(std::size_t size) {
  return is_refused(size) ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  return is_refused(count * size) ? nullptr : __libc_calloc(count, size);
}
}

namespace penstock::actors {
namespace {

using testing::exit_code_of_fork;

enum Outcome : int { worked = 1, refused = 2, other_error = 3 };

Outcome outcome_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::bad_alloc&) {
    return refused;
  } catch (const Error& error) {
    return error.code() == Errc::out_of_memory ? refused : other_error;
  }
  return worked;
}

/// While a MemoryOfThisThreadAlone lives, only the thread that constructed it gets memory, apart
/// from `blocks` large blocks for each other thread.
struct MemoryOfThisThreadAlone {
  explicit MemoryOfThisThreadAlone(int blocks = 0) {
    large_blocks = blocks;
    has_memory = true;
    memory_is_out = true;
  }
  ~MemoryOfThisThreadAlone() { memory_is_out = false; }
};

caf::behavior idle(caf::event_based_actor*, int) {
  return {[](int) {}};
}

/// Lets an actor handle a message, so that a thread uses the variables that CAF keeps for the
/// thread.
void use(ActorSystem& system, RunsOn where) {
  const caf::actor actor = system.spawn(where, idle, 0);
  caf::anon_send(actor, 1);
}

TEST(ThreadMemory, WhichAThreadLacksToThrowMeansThatTheThreadIsRefused) {
  EXPECT_EQ(exit_code_of_fork([] {
              const MemoryOfThisThreadAlone memory;
              return outcome_of([] { EngineThread("engine", [] {}); });
            }),
            refused);
}

// A thread that gets one large block prepares to throw with it, and then lacks one to enter CAF.
constexpr int to_throw = 1;

TEST(ThreadMemory, WhichAWorkerLacksMeansThatASystemIsRefused) {
  EXPECT_EQ(exit_code_of_fork([] {
              const MemoryOfThisThreadAlone memory(to_throw);
              return outcome_of([] {
                ActorSystem system({.threads = 2});
                use(system, RunsOn::workers);
              });
            }),
            refused);
}

TEST(ThreadMemory, WhichAnActorsOwnThreadLacksMeansThatTheActorIsRefused) {
  EXPECT_EQ(exit_code_of_fork([] {
              ActorSystem system({.threads = 1});
              use(system, RunsOn::workers);
              const auto own_thread = [&] { use(system, RunsOn::own_thread); };
              {
                const MemoryOfThisThreadAlone memory(to_throw);
                if (outcome_of(own_thread) != refused) return other_error;
              }
              return outcome_of(own_thread);
            }),
            worked);
}

/// Calls `action` on a new thread that has no memory.
int without_memory(const std::function<int()>& action) {
  int result = 0;
  testing::Latch started, memory_ran_out;
  std::thread thread([&] {
    started.open();
    memory_ran_out.wait();
    result = action();
  });
  started.wait();
  {
    const MemoryOfThisThreadAlone memory;
    memory_ran_out.open();
    thread.join();
  }
  return result;
}

TEST(ThreadMemory, WhichAThreadOfTheHostsLacksMeansThatItIsRefused) {
  EXPECT_EQ(exit_code_of_fork([] {
              return without_memory([] { return outcome_of([] { HostThreadGuard(); }); });
            }),
            refused);
}

}  // namespace
}  // namespace penstock::actors
