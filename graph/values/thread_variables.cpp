#include "graph/values/thread_variables.hpp"

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <mutex>

namespace penstock {
namespace {

// The GNU C library gives memory back to the system when blocks from 64 KiB on are freed. That
// would take time whenever a thread begins, so that this block is smaller.
constexpr std::size_t variables_bytes = std::size_t{32} << 10;

/// Makes the loader look for room for libstdc++'s variables of each thread, among which is what it
/// knows of the thread's exceptions: no thread's first throw allocates them then. A library asks
/// for that as soon as it reaches one of these variables by a descriptor, as std::call_once() does
/// here.
const bool exceptions_have_room = [] {
  std::once_flag flag;
  std::call_once(flag, [] {});
  return true;
}();

[[gnu::noipa]] bool& can_throw() noexcept {
  static constinit thread_local bool prepared = false;
  return prepared;
}

}  // namespace

bool has_memory_for_thread_variables() noexcept {
  // The compiler must not see that nobody uses the block.
  void* volatile const block = std::malloc(variables_bytes);
  std::free(block);
  return block;
}

bool prepare_to_throw() noexcept {
  if (can_throw()) return true;
  if (!has_memory_for_thread_variables()) return false;
  // The compiler leaves a call out whose result nobody uses, if the library declares it as pure.
  // It cannot do so with this one.
  static_cast<void>(std::current_exception());
  can_throw() = true;
  return true;
}

}  // namespace penstock
