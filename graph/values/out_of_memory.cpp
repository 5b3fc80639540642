#include "graph/values/out_of_memory.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
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

/// The exceptions of the host that a thread has noted last. They are compared by their addresses,
/// and kept alive so that no exception of the engine's can have one of these. There are several,
/// for the host may throw and catch another one while the first is on its way.
class NotedExceptions {
 public:
  void add(const std::length_error& error) noexcept {
    if (has(error)) return;
    // It dies at the end, for the destructor of a host's exception may call the engine.
    const Noted oldest = std::exchange(noted_[next_], {std::current_exception(), &error});
    next_ = (next_ + 1) % noted_.size();
  }
  bool has(const std::length_error& error) const noexcept {
    return std::ranges::any_of(noted_, [&](const Noted& noted) { return noted.error == &error; });
  }

 private:
  struct Noted {
    std::exception_ptr keeps_alive = {};
    const std::length_error* error = nullptr;
  };
  std::array<Noted, 8> noted_ = {};
  std::size_t next_ = 0;
};

// Storage of such variables is there when a thread begins, also in a library that was loaded by
// dlopen(): nothing is allocated when memory has run out already.
[[gnu::tls_model("initial-exec")]] thread_local int watches = 0;
/// This storage holds a NotedExceptions while the thread has a watch. As a plain object that would
/// have a destructor, and to register it for the thread's end takes memory.
[[gnu::tls_model("initial-exec")]] alignas(NotedExceptions) thread_local std::byte
    noted_storage[sizeof(NotedExceptions)];

NotedExceptions& noted() noexcept {
  return *std::launder(reinterpret_cast<NotedExceptions*>(noted_storage));
}

}  // namespace

void throw_out_of_memory(std::string_view who) {
  try {
    throw Error(Errc::out_of_memory, std::string(who) + ": not enough memory");
  } catch (const std::bad_alloc&) {
    throw Error(made_beforehand);
  }
}

MemoryWatch::MemoryWatch() noexcept {
  if (watches++ == 0) ::new (noted_storage) NotedExceptions;
}

MemoryWatch::~MemoryWatch() {
  if (watches > 1) {
    --watches;
    return;
  }
  // They die behind the watch, for the destructor of a host's exception may call the engine.
  const NotedExceptions last = std::move(noted());
  noted().~NotedExceptions();
  watches = 0;
}

void MemoryWatch::note_host(const std::length_error& error) noexcept {
  if (watches > 0) noted().add(error);
}

bool MemoryWatch::is_of_host(const std::length_error& error) noexcept {
  return watches > 0 && noted().has(error);
}

}  // namespace penstock
