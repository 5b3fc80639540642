// These functions turn exceptions into caf::error and back. A caf::error has the code and the text
// of a penstock::Error, so that the host's call throws the error that a handler has reported.
#pragma once

#include <caf/error.hpp>
#include <exception>
#include <string>

#include "penstock/error.hpp"

namespace penstock::actors {

caf::error to_caf(Errc code, const std::string& text);
/// Returns an error with the code code_of(exception, otherwise) and the text text_of(exception).
/// @throws std::bad_alloc
caf::error to_caf(const std::exception_ptr& exception, Errc otherwise = Errc::internal);

/// Returns the code of `exception` if it is an Error, out_of_memory if it is a std::bad_alloc, and
/// `otherwise` for any other exception.
Errc code_of(const std::exception_ptr& exception, Errc otherwise) noexcept;

/// Returns "out of memory" if `exception` is a std::bad_alloc, and what() of any other exception.
/// If what() is null, or if the exception has no what(), the function returns a text that says so.
/// @throws std::bad_alloc
std::string text_of(const std::exception_ptr& exception);

/// Returns the Error that `error` stands for. An error that CAF itself has made becomes closed if
/// it says that an actor has ended, and internal otherwise. An empty error, which is the reason of
/// an actor's normal end, becomes closed.
Error to_error(const caf::error& error);

}  // namespace penstock::actors
