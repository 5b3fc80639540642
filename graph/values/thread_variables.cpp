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

/// Makes the dynamic loader find room, if it has any left, for the variables that libstdc++ keeps
/// for each thread, among them those with the thread's exceptions. With that room, no thread's
/// first throw allocates memory for them. (The table that each thread has of libraries with such
/// variables may have to grow nevertheless; see docs/embedding.md.) The loader looks for that room
/// as soon as code of this library reaches one of these variables by a TLS descriptor, as
/// std::call_once() does here.
const bool exceptions_have_room = [] {
  std::once_flag flag;
  std::call_once(flag, [] {});
  return true;
}();

}  // namespace

bool has_memory_for_thread_variables() noexcept {
  // The pointer is volatile, because the compiler would leave out both calls if it saw that nobody
  // uses the block.
  void* volatile const block = std::malloc(variables_bytes);
  std::free(block);
  return block;
}

bool prepare_to_throw() noexcept {
  if (!has_memory_for_thread_variables()) return false;
  // The result is not used. The compiler keeps the call nevertheless, because libstdc++ does not
  // declare std::current_exception() as pure, as it does std::uncaught_exceptions().
  static_cast<void>(std::current_exception());
  return true;
}

}  // namespace penstock
