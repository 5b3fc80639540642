// These functions turn an exception into the reason why there is no batch.
#pragma once

#include <exception>
#include <string>

#include "actors/loader/loader_batch.hpp"

namespace penstock::actors {

/// Returns whether the exception says that there is no memory, as a std::bad_alloc and an Error
/// out_of_memory do.
bool says_no_memory(const std::exception_ptr& exception) noexcept;

/// Returns what the exception says. @throws std::bad_alloc
std::string said_by(const std::exception_ptr& exception);

/// Returns the failure with the text `opening()` followed by what the exception says, and with the
/// code out_of_memory if the exception says that, else `code`. If there is no memory for the text,
/// the failure is out_of_memory and has no text.
LoadFailure failure_of(const std::exception_ptr& exception, Errc code, const auto& opening) noexcept
    try {
  return {opening() + said_by(exception), says_no_memory(exception) ? Errc::out_of_memory : code};
} catch (...) {
  return {{}, Errc::out_of_memory};
}

}  // namespace penstock::actors
