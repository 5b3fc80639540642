// Errors as they travel between actors: penstock's code and text inside a caf::error. Nothing is
// lost on the way, so that what a handler reports is what the host's call throws.
#pragma once

#include <caf/error.hpp>
#include <exception>
#include <string>

#include "penstock/error.hpp"

namespace penstock::actors {

caf::error to_caf(Errc code, const std::string& text);
/// Returns the error that an exception becomes: its code is code_of(), its text text_of().
/// @throws std::bad_alloc
caf::error to_caf(const std::exception_ptr& exception, Errc otherwise = Errc::internal);

/// Returns the code of an Error, out_of_memory for std::bad_alloc, and `otherwise` for any other
/// exception.
Errc code_of(const std::exception_ptr& exception, Errc otherwise) noexcept;

/// Returns what an exception says. One whose what() is null, or that has none, is named in words.
/// @throws std::bad_alloc
std::string text_of(const std::exception_ptr& exception);

/// Turns an error of CAF into one of Penstock. CAF's own errors become stalled (a request that
/// timed out), closed (its receiver is gone) or internal. No error becomes closed, as it is then
/// the reason of an actor's end.
Error to_error(const caf::error& error);

}  // namespace penstock::actors
