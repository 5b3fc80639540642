// is_of_host() tells an error of a class of the host's own from one of the engine's. It is pure.
#pragma once

#include <typeinfo>

#include "penstock/error.hpp"

namespace penstock {

/// Returns whether `error` is of a class that a host has derived from Error. Such an error passes
/// as it is: the host may have put more into it than a code and a text.
inline bool is_of_host(const Error& error) noexcept {
  return typeid(error) != typeid(Error);
}

}  // namespace penstock
