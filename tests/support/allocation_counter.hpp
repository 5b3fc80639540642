// This header counts what the program takes from the heap, and lets allocations fail. A test
// program that uses it has its `operator new` replaced.
#pragma once

#include <cstdint>
#include <functional>

namespace penstock::testing {

/// Calls of `operator new` by the calling thread so far.
std::uint64_t heap_allocations() noexcept;

/// Returns the bytes that the calling thread has asked of `operator new` so far, but for aligned
/// memory.
std::uint64_t heap_bytes() noexcept;

/// The most bytes of aligned memory, of which tensors and IPUs have theirs, that there were at a
/// time since the last call. Of all threads.
std::int64_t take_most_block_bytes() noexcept;

/// While it lives, the system has no aligned memory for blocks of so many bytes or more. One at a
/// time.
class NoBlocksFrom {
 public:
  explicit NoBlocksFrom(std::int64_t bytes) noexcept;
  ~NoBlocksFrom();
  NoBlocksFrom(const NoBlocksFrom&) = delete;
  NoBlocksFrom& operator=(const NoBlocksFrom&) = delete;
};

/// Says whose allocations fail: those of every thread, or of the one that asks for failures.
enum class FailsOn : std::uint8_t { every_thread, this_thread };

/// While it lives, some allocations through `operator new` fail: of those that the threads ask for
/// after its construction, number `first` (counted from 1) and the `count` - 1 that follow. There
/// is at most one of these objects at a time. It does not reach memory that C libraries take from
/// `malloc`, nor the exceptions themselves.
class AllocationFailures {
 public:
  explicit AllocationFailures(std::int64_t first, std::int64_t count = 1,
                              FailsOn threads = FailsOn::every_thread) noexcept;
  ~AllocationFailures();
  AllocationFailures(const AllocationFailures&) = delete;
  AllocationFailures& operator=(const AllocationFailures&) = delete;

  /// Returns whether so many allocations were asked for that at least one of them failed.
  bool reached() const noexcept;
};

/// While it lives, the calling thread calls `function` when it first asks `operator new` for its
/// allocation number `number` after the construction, counted from 1, as a new-handler of a host's
/// may be called. There is at most one of these objects on a thread at a time.
class AtAllocation {
 public:
  AtAllocation(std::int64_t number, std::function<void()> function);
  ~AtAllocation();
  AtAllocation(const AtAllocation&) = delete;
  AtAllocation& operator=(const AtAllocation&) = delete;

  /// Returns whether so many allocations were asked for.
  bool reached() const noexcept;

 private:
  std::function<void()> function_;
};

/// Says which allocations fail in the attempts of fail_each_allocation().
struct FailureSteps {
  std::int64_t count = 1;   ///< Counts the allocations that fail in a row.
  std::int64_t stride = 1;  ///< Says how much later the failures begin in each further attempt.
  std::int64_t first = 1;   ///< Says where they begin in the first attempt.
};

/// Calls `attempt` again and again, with the first allocation failing, then with the second, and so
/// on, until an attempt asks for so few allocations that none fails. The argument of `attempt` is
/// the number of the first allocation that fails. Returns how many attempts met a failure.
std::int64_t fail_each_allocation(const std::function<void(std::int64_t)>& attempt,
                                  const FailureSteps& steps = {});

}  // namespace penstock::testing
