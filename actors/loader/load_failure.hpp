// These functions turn an exception into the reason why there is no batch.
#pragma once

#include <exception>
#include <string>

#include "actors/loader/loader_batch.hpp"

namespace penstock::actors {

/// Returns whether `exception` is a std::bad_alloc or an Error out_of_memory.
bool says_no_memory(const std::exception_ptr& exception) noexcept;

/// Returns the text of `exception` as printable() makes it, and "not enough memory" for a
/// std::bad_alloc.
/// @throws std::bad_alloc
std::string said_by(const std::exception_ptr& exception);

/// Returns a failure whose text is `opening()` followed by the text of `exception`. The failure's
/// code is out_of_memory if says_no_memory(exception), and `code` otherwise. If there is no memory
/// for the text, the failure has the code out_of_memory and no text.
LoadFailure failure_of(const std::exception_ptr& exception, Errc code, const auto& opening) noexcept
    try {
  return {opening() + said_by(exception), says_no_memory(exception) ? Errc::out_of_memory : code};
} catch (...) {
  return {{}, Errc::out_of_memory};
}

}  // namespace penstock::actors
