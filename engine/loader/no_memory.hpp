// What a host is told when memory runs out anywhere in a call, even for the words to say so.
#pragma once

#include <new>

#include "penstock/error.hpp"

namespace penstock {

/// What is thrown for want of memory. It was made beforehand, and a copy shares its text.
inline const Error no_memory(Errc::out_of_memory, "out of memory");

/// Returns what `call` returns. @throws Error out_of_memory instead of std::bad_alloc.
decltype(auto) or_no_memory(const auto& call) try { return call(); } catch (const std::bad_alloc&) {
  throw no_memory;
}

}  // namespace penstock
