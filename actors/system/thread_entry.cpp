#include "actors/system/thread_entry.hpp"

#include <sys/mman.h>

#include <caf/logger.hpp>
#include <chrono>
#include <cstddef>
#include <new>
#include <thread>
#include <utility>

#include "graph/values/thread_variables.hpp"

namespace penstock::actors {
namespace {

// The memory that is kept back is twice the 1 MiB that the GNU C library takes at once for a heap
// that cannot grow where it is.
constexpr std::size_t kept_bytes = std::size_t{2} << 20;

[[gnu::noipa]] bool& has_entered() noexcept {
  static constinit thread_local bool entered = false;
  return entered;
}

}  // namespace

bool try_to_enter_caf() noexcept {
  const bool is_prepared = prepare_to_throw();
  if (has_entered()) return true;
  if (!is_prepared || !has_memory_for_thread_variables()) return false;
  caf::logger::current_logger();
  has_entered() = true;
  return true;
}

void enter_caf() {
  if (!try_to_enter_caf()) throw std::bad_alloc();
}

// The pages are writable because only writable pages count, even if they are unused, towards every
// limit on memory. Therefore, giving the pages back makes room under every limit that a later
// allocation has to keep.
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

// The pages stay mapped if the operating system cannot unmap them. That happens if the pages are
// within a larger mapping, which would be split, and the process already has as many mappings as it
// may have.
void EntryMemory::give_back() noexcept {
  if (void* const pages = std::exchange(pages_, nullptr)) munmap(pages, kept_bytes);
}

}  // namespace penstock::actors
