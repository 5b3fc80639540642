#include "graph/values/out_of_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <string>
#include <utility>

#include "graph/values/thread_variables.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Returns an error for use when no memory is left, made when Penstock was loaded. Copying this
/// error allocates no text, because copies of a standard exception share their text. The error is
/// never destroyed, since a host may call the engine while the process ends.
const Error& error_made_beforehand() {
  alignas(Error) static std::byte storage[sizeof(Error)];
  static const Error& error = *::new (storage) Error(Errc::out_of_memory, "not enough memory");
  return error;
}
const Error& made_beforehand = error_made_beforehand();

/// Returns the watch of the thread's outermost or_out_of_memory(), or null if the thread is in no
/// or_out_of_memory().
[[gnu::noipa]] MemoryWatch*& outermost() noexcept {
  static constinit thread_local MemoryWatch* watch = nullptr;
  return watch;
}

}  // namespace

void throw_out_of_memory(std::string_view subject) {
  try {
    throw Error(Errc::out_of_memory, std::string(subject) + ": not enough memory");
  } catch (const std::bad_alloc&) {
    throw Error(made_beforehand);
  }
}

void rethrow_to_host(std::string_view subject) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(subject);
  } catch (const std::length_error& error) {
    if (MemoryWatch::is_of_host(error)) throw;
    throw_out_of_memory(subject);
  }
}

void NotedExceptions::add(const std::length_error& error) noexcept {
  if (has(error)) return;
  // The exception that was noted longest ago is destroyed only at the end of this function, when
  // the list is in order: the destructor of a host's exception may call the engine.
  const Noted oldest = std::exchange(noted_[next_], {std::current_exception(), &error});
  next_ = (next_ + 1) % noted_.size();
}

bool NotedExceptions::has(const std::length_error& error) const noexcept {
  return std::ranges::any_of(noted_, [&](const Noted& noted) { return noted.error == &error; });
}

MemoryWatch::MemoryWatch() noexcept {
  // If there is no memory to prepare with, the call is tried nevertheless. An inner watch prepares,
  // too, because the outer call may have called a function of the host's that has loaded libraries.
  static_cast<void>(prepare_to_throw());
  if (outermost()) return;
  noted_.emplace();
  outermost() = this;
}

// The noted exceptions are destroyed after the body of this destructor, when this watch is no
// longer in use: the destructor of a host's exception may call the engine.
MemoryWatch::~MemoryWatch() {
  if (outermost() == this) outermost() = nullptr;
}

void MemoryWatch::note_host(const std::length_error& error) noexcept {
  if (MemoryWatch* const watch = outermost()) watch->noted_->add(error);
}

bool MemoryWatch::is_of_host(const std::length_error& error) noexcept {
  const MemoryWatch* const watch = outermost();
  return watch && watch->noted_->has(error);
}

}  // namespace penstock
