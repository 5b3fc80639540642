#include "tests/support/allocation_counter.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

thread_local std::uint64_t allocations = 0, plain_bytes = 0;
std::atomic<std::int64_t> block_bytes{0}, most_block_bytes{0}, refused_from{no_limit};

// AllocationFailures sets these variables: the allocations whose numbers are at least
// `first_failure` and below `failures_end` fail.
std::atomic<bool> failures_wanted{false};
std::atomic<bool> of_one_thread{false};
thread_local bool is_that_thread = false;
std::atomic<std::int64_t> first_failure{0}, failures_end{0}, asked_for{0};

// AtAllocation sets these variables: `called` is called when the last of the next
// `left_until_called` allocations is asked for. If `left_until_called` is 0, it is never called.
thread_local const std::function<void()>* called = nullptr;
thread_local std::int64_t left_until_called = 0;

/// Counts an allocation. Returns whether the allocation has to fail.
bool counted_and_refused() noexcept {
  ++allocations;
  if (left_until_called > 0 && --left_until_called == 0) (*called)();
  if (!failures_wanted.load(std::memory_order_relaxed)) return false;
  if (of_one_thread && !is_that_thread) return false;
  const std::int64_t number = ++asked_for;
  return first_failure <= number && number < failures_end;
}

void* or_throw(void* block) {
  if (!block) throw std::bad_alloc();
  return block;
}

void* plain_block(std::size_t size) noexcept {
  plain_bytes += size;
  return counted_and_refused() ? nullptr : std::malloc(size ? size : 1);
}

void* aligned_block(std::size_t size, std::align_val_t alignment) {
  if (counted_and_refused() || static_cast<std::int64_t>(size) >= refused_from) return nullptr;
  const auto step = static_cast<std::size_t>(alignment);
  void* const block = std::aligned_alloc(step, (size + step - 1) / step * step);
  if (!block) return nullptr;
  const std::int64_t bytes = block_bytes += static_cast<std::int64_t>(malloc_usable_size(block));
  std::int64_t most = most_block_bytes;
  while (most < bytes && !most_block_bytes.compare_exchange_weak(most, bytes)) {
  }
  return block;
}

void free_aligned(void* block) {
  if (block) block_bytes -= static_cast<std::int64_t>(malloc_usable_size(block));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) {
  return or_throw(plain_block(size));
}
// This operator is replaced, too, because the operators below free its blocks, and a sanitizer has
// an operator of its own.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return plain_block(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return or_throw(aligned_block(size, alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return aligned_block(size, alignment);
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  free_aligned(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  free_aligned(block);
}

namespace penstock::testing {

std::uint64_t heap_allocations() noexcept {
  return allocations;
}

std::uint64_t heap_bytes() noexcept {
  return plain_bytes;
}

std::int64_t take_most_block_bytes() noexcept {
  return most_block_bytes.exchange(block_bytes);
}

NoBlocksFrom::NoBlocksFrom(std::int64_t bytes) noexcept {
  refused_from = bytes;
}

NoBlocksFrom::~NoBlocksFrom() {
  refused_from = no_limit;
}

AllocationFailures::AllocationFailures(std::int64_t first, std::int64_t count,
                                       FailsOn threads) noexcept {
  of_one_thread = threads == FailsOn::this_thread;
  is_that_thread = true;
  asked_for = 0;
  first_failure = first;
  failures_end = first + count;
  failures_wanted = true;
}

AllocationFailures::~AllocationFailures() {
  failures_wanted = false;
  is_that_thread = false;
}

bool AllocationFailures::reached() const noexcept {
  return asked_for >= first_failure;
}

AtAllocation::AtAllocation(std::int64_t number, std::function<void()> function)
    : function_(std::move(function)) {
  called = &function_;
  left_until_called = number;
}

AtAllocation::~AtAllocation() {
  left_until_called = 0;
}

bool AtAllocation::reached() const noexcept {
  return left_until_called == 0;
}

std::int64_t fail_each_allocation(const std::function<void(std::int64_t)>& attempt,
                                  const FailureSteps& steps) {
  std::int64_t attempts = 0;
  for (std::int64_t first = steps.first;; first += steps.stride, ++attempts) {
    const AllocationFailures failures(first, steps.count);
    attempt(first);
    if (!failures.reached()) return attempts;
  }
}

}  // namespace penstock::testing
