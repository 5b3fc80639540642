// This header counts what the program takes from the heap, and can make allocations fail. A test
// program that uses it has its `operator new` replaced.
#pragma once

#include <cstdint>
#include <functional>

namespace penstock::testing {

/// Returns how often the calling thread has called `operator new` so far.
std::uint64_t heap_allocations() noexcept;

/// Returns the bytes that the calling thread has asked of `operator new` so far. Aligned memory
/// does not count.
std::uint64_t heap_bytes() noexcept;

/// Returns the most bytes of aligned memory that all threads together have had at a time since the
/// last call. The memory of tensors and of IPUs is aligned.
std::int64_t take_most_block_bytes() noexcept;

/// While such an object lives, every allocation of an aligned block of `bytes` bytes or more fails.
/// There is at most one such object at a time.
class NoBlocksFrom {
 public:
  explicit NoBlocksFrom(std::int64_t bytes) noexcept;
  ~NoBlocksFrom();
  NoBlocksFrom(const NoBlocksFrom&) = delete;
  NoBlocksFrom& operator=(const NoBlocksFrom&) = delete;
};

/// Says whose allocations fail: those of every thread, or those of the thread that makes the
/// AllocationFailures.
enum class FailsOn : std::uint8_t { every_thread, this_thread };

/// While such an object lives, some allocations through `operator new` fail. They are counted from
/// 1 since the construction; number `first` and the `count` - 1 that follow fail. There is at most
/// one such object at a time. Memory that C libraries take from `malloc`, and the memory of
/// exceptions, is still available.
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

/// While such an object lives, its thread calls `function` when it asks `operator new` for
/// allocation number `number` since the construction, counted from 1. A new-handler of a host's may
/// be called at the same point. There is at most one such object on a thread at a time.
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

/// Says which allocations fail in the attempts of fail_each_allocation().
struct FailureSteps {
  std::int64_t count = 1;   ///< Counts the allocations that fail in a row.
  std::int64_t stride = 1;  ///< Says by how many allocations later each further attempt fails.
  std::int64_t first = 1;   ///< Is the first failing allocation's number in the first attempt.
};

/// Calls `attempt` again and again, at first with the first allocation failing, then with the
/// second, and so on, as `steps` says, until an attempt asks for so few allocations that none
/// fails. The argument of `attempt` is the number of the first allocation that fails. Returns how
/// many attempts met a failure.
std::int64_t fail_each_allocation(const std::function<void(std::int64_t)>& attempt,
                                  const FailureSteps& steps = {});

}  // namespace penstock::testing
