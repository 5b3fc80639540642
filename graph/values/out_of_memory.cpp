#include "graph/values/out_of_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Copying this error allocates no text: copies of a standard exception share that. It is never
/// destroyed, since a host may call the engine while the process ends.
const Error& error_made_beforehand() {
  alignas(Error) static std::byte storage[sizeof(Error)];
  static const Error& error = *::new (storage) Error(Errc::out_of_memory, "not enough memory");
  return error;
}
const Error& made_beforehand = error_made_beforehand();

/// The watch of the thread's outermost or_out_of_memory(), or null.
constinit thread_local MemoryWatch* outermost = nullptr;

/// Makes the loader look for storage for libstdc++'s variables of each thread, too, among which is
/// what it knows of the thread's exceptions: the first throw allocates none then. A library asks
/// for that as soon as it reaches one of these variables by a descriptor, as std::call_once() does
/// here.
const bool exceptions_have_storage = [] {
  std::once_flag flag;
  std::call_once(flag, [] {});
  return true;
}();

}  // namespace

void throw_out_of_memory(std::string_view who) {
  try {
    throw Error(Errc::out_of_memory, std::string(who) + ": not enough memory");
  } catch (const std::bad_alloc&) {
    throw Error(made_beforehand);
  }
}

void NotedExceptions::add(const std::length_error& error) noexcept {
  if (has(error)) return;
  // It dies at the end, for the destructor of a host's exception may call the engine.
  const Noted oldest = std::exchange(noted_[next_], {std::current_exception(), &error});
  next_ = (next_ + 1) % noted_.size();
}

bool NotedExceptions::has(const std::length_error& error) const noexcept {
  return std::ranges::any_of(noted_, [&](const Noted& noted) { return noted.error == &error; });
}

MemoryWatch::MemoryWatch() noexcept {
  if (outermost) return;
  noted_.emplace();
  outermost = this;
}

// What has been noted dies after this, for the destructor of a host's exception may call the
// engine.
MemoryWatch::~MemoryWatch() {
  if (outermost == this) outermost = nullptr;
}

void MemoryWatch::note_host(const std::length_error& error) noexcept {
  if (outermost) outermost->noted_->add(error);
}

bool MemoryWatch::is_of_host(const std::length_error& error) noexcept {
  return outermost && outermost->noted_->has(error);
}

}  // namespace penstock
