// These functions turn exceptions into caf::error and back. A caf::error carries the code and the
// text of a penstock::Error, so that the host's call throws what a handler has reported.
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

/// Returns "out of memory" for std::bad_alloc, and what() for any other exception. If what() is
/// null or the exception has none, the function returns a phrase that says so.
/// @throws std::bad_alloc
std::string text_of(const std::exception_ptr& exception);

/// Turns an error of CAF into one of Penstock. An error that CAF itself has made becomes closed if
/// it says that an actor has ended, and internal otherwise. An empty error, which is the reason of
/// an actor's normal end, becomes closed.
Error to_error(const caf::error& error);

}  // namespace penstock::actors
