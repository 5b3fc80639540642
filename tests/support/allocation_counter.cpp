#include "tests/support/allocation_counter.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

thread_local std::uint64_t allocations = 0;
std::atomic<std::int64_t> block_bytes{0}, most_block_bytes{0}, refused_from{no_limit};

void* counted(void* block) {
  ++allocations;
  if (!block) throw std::bad_alloc();
  return block;
}

void* aligned_block(std::size_t size, std::align_val_t alignment) {
  if (static_cast<std::int64_t>(size) >= refused_from) return nullptr;
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
  return counted(std::malloc(size ? size : 1));
}
// Replaced too, for the operators below free what it gives, and a sanitizer has one of its own.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size ? size : 1);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(aligned_block(size, alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  ++allocations;
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

std::int64_t take_most_block_bytes() noexcept {
  return most_block_bytes.exchange(block_bytes);
}

NoBlocksFrom::NoBlocksFrom(std::int64_t bytes) noexcept {
  refused_from = bytes;
}

NoBlocksFrom::~NoBlocksFrom() {
  refused_from = no_limit;
}

}  // namespace penstock::testing
