// How a lack of memory reaches the caller: as Error out_of_memory, even where there is no memory
// left for its text. Every public function that allocates runs in or_out_of_memory(), and calls the
// host's functions by call_host().
#pragma once

#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace penstock {

/// Throws Error out_of_memory, whose text opens with `who`; with a shorter text that was made
/// beforehand if there is no memory for this one.
[[noreturn]] void throw_out_of_memory(std::string_view who);

/// One of these lives in each or_out_of_memory() that the thread is in. They know which exception
/// is one of the host's own.
class MemoryWatch {
 public:
  MemoryWatch() noexcept;
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  /// Says that the host's code has thrown `error`.
  static void note_host(const std::length_error& error) noexcept;
  static bool is_of_host(const std::length_error& error) noexcept;
};

/// Returns what `action` returns. If it throws std::bad_alloc, or asks for a string or vector
/// longer than there can be, that becomes Error out_of_memory, whose text opens with `who`.
template <class Action>
decltype(auto) or_out_of_memory(std::string_view who, Action&& action) {
  const MemoryWatch watch;
  try {
    return std::forward<Action>(action)();
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(who);
  } catch (const std::length_error& error) {
    if (MemoryWatch::is_of_host(error)) throw;
    throw_out_of_memory(who);
  }
}

/// Returns what `function`, which is the host's, returns. What it throws passes every
/// or_out_of_memory() as it is; but nobody can tell its std::bad_alloc from one of the engine's.
template <class Function>
decltype(auto) call_host(Function&& function) {
  try {
    return std::forward<Function>(function)();
  } catch (const std::length_error& error) {
    MemoryWatch::note_host(error);
    throw;
  }
}

}  // namespace penstock
