// is_of_host() distinguishes errors of the host's own classes from the engine's errors. It is pure.
#pragma once

#include <typeinfo>

#include "penstock/error.hpp"

namespace penstock {

/// Returns whether `error` is of a class that a host has derived from Error. Such an error is
/// passed on unchanged, because the host may have put more into it than a code and a text.
inline bool is_of_host(const Error& error) noexcept {
  return typeid(error) != typeid(Error);
}

}  // namespace penstock
