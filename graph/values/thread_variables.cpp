#include "graph/values/thread_variables.hpp"

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <mutex>

namespace penstock {
namespace {

// has_memory_for_thread_variables() allocates and frees a block of this size. When the GNU C
// library frees a block that has 64 KiB or more together with its free neighbours, it looks for
// memory to give back to the system, which takes time. The smaller this block is, the more seldom
// that happens.
constexpr std::size_t variables_bytes = std::size_t{32} << 10;

/// Makes the loader find room, if it has any left, for the variables that libstdc++ keeps for each
/// thread, among them what it knows of the thread's exceptions. With that room, no thread's first
/// throw allocates memory for them. (A thread's table of libraries may have to grow nevertheless,
/// see docs/embedding.md.) The library asks for that room as soon as it reaches one of these
/// variables by a descriptor, as std::call_once() does here.
const bool exceptions_have_room = [] {
  std::once_flag flag;
  std::call_once(flag, [] {});
  return true;
}();

}  // namespace

bool has_memory_for_thread_variables() noexcept {
  // The compiler must not see that nobody uses the block.
  void* volatile const block = std::malloc(variables_bytes);
  std::free(block);
  return block;
}

bool prepare_to_throw() noexcept {
  if (!has_memory_for_thread_variables()) return false;
  // The compiler leaves out a call whose result nobody uses if the library declares the function as
  // pure. It cannot leave out this call.
  static_cast<void>(std::current_exception());
  return true;
}

}  // namespace penstock
