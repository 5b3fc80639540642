// How a lack of memory reaches the caller: as Error out_of_memory, even where there is no memory
// left for its text. Every public function that allocates runs in or_out_of_memory(), and calls the
// host's functions by call_host().
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace penstock {

/// Throws Error out_of_memory, whose text opens with `who`; with a shorter text that was made
/// beforehand if there is no memory for this one.
[[noreturn]] void throw_out_of_memory(std::string_view who);

/// The exceptions of the host that a thread has noted last. They are compared by their addresses,
/// and kept alive so that no exception of the engine's can have one of these. There are several,
/// for the host may throw and catch another one while the first is on its way.
class NotedExceptions {
 public:
  void add(const std::length_error& error) noexcept;
  bool has(const std::length_error& error) const noexcept;

 private:
  struct Noted {
    std::exception_ptr keeps_alive = {};
    const std::length_error* error = nullptr;
  };
  std::array<Noted, 8> noted_ = {};
  std::size_t next_ = 0;
};

/// One of these lives in each or_out_of_memory() that the thread is in. The outermost one knows
/// which exception is one of the host's own.
class MemoryWatch {
 public:
  MemoryWatch() noexcept;
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  /// Says that the host's code has thrown `error`.
  static void note_host(const std::length_error& error) noexcept;
  static bool is_of_host(const std::length_error& error) noexcept;

 private:
  std::optional<NotedExceptions> noted_;  // of the outermost one
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
