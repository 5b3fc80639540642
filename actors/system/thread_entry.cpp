#include "actors/system/thread_entry.hpp"

#include <caf/logger.hpp>
#include <cstdlib>
#include <new>

namespace penstock::actors {
namespace {

// Below the size from which the C library takes memory of the system's for each block alone.
constexpr std::size_t entry_bytes = std::size_t{64} << 10;

}  // namespace

bool try_to_enter_caf() noexcept {
  // The compiler must not see that nobody uses the block.
  void* volatile const block = std::malloc(entry_bytes);
  if (!block) return false;
  std::free(block);
  caf::logger::current_logger();
  return true;
}

void enter_caf() {
  if (!try_to_enter_caf()) throw std::bad_alloc();
}

EntryMemory keep_entry_memory() {
  EntryMemory memory(std::malloc(entry_bytes), std::free);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace penstock::actors
