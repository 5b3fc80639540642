// The functions and classes of this header count what the program takes from the heap, and can make
// allocations fail. They replace the `operator new` of a test program that uses them.
#pragma once

#include <cstdint>
#include <functional>

namespace penstock::testing {

/// Returns how often the calling thread has called `operator new` so far.
std::uint64_t heap_allocations() noexcept;

/// Returns how many bytes the calling thread has asked of `operator new` so far. Aligned memory
/// does not count.
std::uint64_t heap_bytes() noexcept;

/// Returns the most bytes of aligned memory that all threads together have had at the same time
/// since the last call. The memory of tensors and of IPUs is aligned.
std::int64_t take_most_block_bytes() noexcept;

/// While a NoBlocksFrom lives, every allocation of an aligned block of `bytes` bytes or more fails.
/// There is at most one NoBlocksFrom at a time.
class NoBlocksFrom {
 public:
  explicit NoBlocksFrom(std::int64_t bytes) noexcept;
  ~NoBlocksFrom();
  NoBlocksFrom(const NoBlocksFrom&) = delete;
  NoBlocksFrom& operator=(const NoBlocksFrom&) = delete;
};

/// A FailsOn says whose allocations fail: those of every thread, or those of the thread that makes
/// the AllocationFailures.
enum class FailsOn : std::uint8_t { every_thread, this_thread };

/// While an AllocationFailures lives, some allocations through `operator new` fail. Allocations
/// since its construction are counted from 1; number `first` and the `count` - 1 that follow it
/// fail. There is at most one AllocationFailures at a time. Memory that C libraries take from
/// `malloc`, and the memory of exceptions, is still available.
class AllocationFailures {
 public:
  explicit AllocationFailures(std::int64_t first, std::int64_t count = 1,
                              FailsOn threads = FailsOn::every_thread) noexcept;
  ~AllocationFailures();
  AllocationFailures(const AllocationFailures&) = delete;
  AllocationFailures& operator=(const AllocationFailures&) = delete;

  /// Returns whether allocation number `first` was asked for.
  bool reached() const noexcept;
};

/// While an AtAllocation lives, the thread that made it calls `function` when it asks `operator
/// new` for allocation number `number` since the construction, counted from 1. A new-handler of the
/// host may be called at the same point. There is at most one AtAllocation on a thread at a time.
class AtAllocation {
 public:
  AtAllocation(std::int64_t number, std::function<void()> function);
  ~AtAllocation();
  AtAllocation(const AtAllocation&) = delete;
  AtAllocation& operator=(const AtAllocation&) = delete;

  /// Returns whether allocation number `number` was asked for.
  bool reached() const noexcept;

 private:
  std::function<void()> function_;
};

/// FailureSteps say which allocations fail in the attempts of fail_each_allocation().
struct FailureSteps {
  std::int64_t count = 1;   ///< This many allocations fail in a row.
  std::int64_t stride = 1;  ///< Each further attempt fails this many allocations later.
  /// In the first attempt, the first allocation that fails has this number.
  std::int64_t first = 1;
};

/// Calls `attempt` again and again. By default the first allocation fails in the first attempt, the
/// second allocation in the second attempt, and so on; `steps` can change that. The last attempt is
/// the one that asks for so few allocations that none fails. The argument of `attempt` is the
/// number of the first allocation that fails. Returns how many attempts met a failure.
std::int64_t fail_each_allocation(const std::function<void(std::int64_t)>& attempt,
                                  const FailureSteps& steps = {});

}  // namespace penstock::testing
