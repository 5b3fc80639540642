// A lack of memory reaches the caller as Error out_of_memory, even where no memory is left for the
// error's text. Every public function that allocates runs in or_out_of_memory(), and calls
// functions of the host's by call_host().
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "graph/values/canonical_floats.hpp"

namespace penstock {

/// Throws Error out_of_memory, whose text begins with `subject`. If there is no memory for that
/// text, the error has a shorter text that was made beforehand.
[[noreturn]] void throw_out_of_memory(std::string_view subject);

/// NotedExceptions are the last eight exceptions, all of type std::length_error, that the host's
/// code has thrown on a thread. The exceptions are told apart by their addresses, and kept alive so
/// that no exception of the engine's can have the same address. More than one exception is kept,
/// because the host may throw and catch another exception while the first one is on its way.
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

/// A MemoryWatch notes the exceptions that the host's own code throws. Each or_out_of_memory() that
/// the thread is in has a watch, and the outermost watch keeps what was noted.
class MemoryWatch {
 public:
  MemoryWatch() noexcept;
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  /// Notes that the host's code has thrown `error`.
  static void note_host(const std::length_error& error) noexcept;
  static bool is_of_host(const std::length_error& error) noexcept;

 private:
  std::optional<NotedExceptions> noted_;  // Only the outermost watch keeps noted exceptions.
};

/// Rethrows the exception that is being handled. A std::bad_alloc, or a std::length_error that no
/// MemoryWatch::note_host() has noted inside the outermost MemoryWatch, becomes Error
/// out_of_memory, whose text begins with `subject`.
[[noreturn]] void rethrow_to_host(std::string_view subject);

/// Calls `action` and returns the result of `action`. If `action` throws std::bad_alloc, or asks
/// for a string or vector that is longer than any can be, throws Error out_of_memory, whose text
/// begins with `subject`.
template <class Action>
decltype(auto) or_out_of_memory(std::string_view subject, Action&& action) {
  const MemoryWatch watch;
  try {
    return std::forward<Action>(action)();
  } catch (...) {
    rethrow_to_host(subject);
  }
}

/// Calls `function`, which is the host's, and returns what it returns. What it throws passes every
/// or_out_of_memory() unchanged, except std::bad_alloc, which becomes Error out_of_memory, because
/// it cannot be told from a std::bad_alloc of the engine's own. The floating-point environment is
/// afterwards as it was before, whatever the function has made of it.
template <class Function>
decltype(auto) call_host(Function&& function) {
  const KeptFloats floats;
  try {
    return std::forward<Function>(function)();
  } catch (const std::length_error& error) {
    MemoryWatch::note_host(error);
    throw;
  }
}

}  // namespace penstock
