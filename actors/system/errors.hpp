// These functions lead from exceptions to caf::error and back. A caf::error carries the code and
// the text of a penstock::Error, so that the host's call throws what a handler has reported.
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

/// Returns the text of an exception, or words for it if its what() is null or it has none.
/// @throws std::bad_alloc
std::string text_of(const std::exception_ptr& exception);

/// Turns an error of CAF into one of Penstock. CAF's own errors become stalled (a request that
/// timed out), closed (its receiver is gone) or internal. No error becomes closed, as it is then
/// the reason of an actor's end.
Error to_error(const caf::error& error);

}  // namespace penstock::actors
