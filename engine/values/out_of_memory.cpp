#include "engine/values/out_of_memory.hpp"

#include <string>

#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Copying it allocates no text: copies of a standard exception share that.
const Error made_beforehand(Errc::out_of_memory, "not enough memory");

thread_local int watches = 0;
/// Compared by its address, which is its own for as long as it is on its way. Once it has reached
/// somebody, another exception may have that address.
thread_local const std::length_error* of_host = nullptr;

}  // namespace

void throw_out_of_memory(std::string_view who) {
  try {
    throw Error(Errc::out_of_memory, std::string(who) + ": not enough memory");
  } catch (const std::bad_alloc&) {
    throw Error(made_beforehand);
  }
}

MemoryWatch::MemoryWatch() noexcept {
  if (watches++ == 0) of_host = nullptr;
}

MemoryWatch::~MemoryWatch() {
  --watches;
}

void MemoryWatch::note_host(const std::length_error& error) noexcept {
  of_host = &error;
}

bool MemoryWatch::is_of_host(const std::length_error& error) noexcept {
  return of_host == &error;
}

}  // namespace penstock
