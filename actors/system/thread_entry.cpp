#include "actors/system/thread_entry.hpp"

#include <sys/mman.h>

#include <caf/logger.hpp>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <new>
#include <thread>
#include <utility>

namespace penstock::actors {
namespace {

// The GNU C library gives memory back to the system when blocks from 64 KiB on are freed. That
// would take time at every entry, so that this block is smaller.
constexpr std::size_t entry_bytes = std::size_t{32} << 10;

// The GNU C library takes 1 MiB at once for a heap that cannot grow where it is.
constexpr std::size_t kept_bytes = std::size_t{2} << 20;

/// Says whether the thread has used CAF's variable, and what the C++ library keeps for exceptions.
constinit thread_local bool has_entered = false;

}  // namespace

bool try_to_enter_caf() noexcept {
  if (has_entered) return true;
  // The compiler must not see that nobody uses the block.
  void* volatile const block = std::malloc(entry_bytes);
  if (!block) return false;
  std::free(block);
  caf::logger::current_logger();
  static_cast<void>(std::uncaught_exceptions());  // looks at what is kept for exceptions
  has_entered = true;
  return true;
}

void enter_caf() {
  if (!try_to_enter_caf()) throw std::bad_alloc();
}

// Writable pages count for every limit that a later allocation is held to, though nobody uses them.
EntryMemory::EntryMemory()
    : pages_(
          mmap(nullptr, kept_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
  if (pages_ == MAP_FAILED) throw std::bad_alloc();
}

bool EntryMemory::enter_caf_with_it() noexcept {
  give_back();
  for (int attempts = 100; attempts > 0; --attempts) {
    if (try_to_enter_caf()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// Where the system cannot unmap the pages, because that would split what it counts as one mapping
// of too many, they stay mapped.
void EntryMemory::give_back() noexcept {
  if (void* const pages = std::exchange(pages_, nullptr)) munmap(pages, kept_bytes);
}

}  // namespace penstock::actors
