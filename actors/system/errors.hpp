// Errors as they travel between actors: penstock's code and text inside a caf::error. Nothing is
// lost on the way, so that what a handler reports is what the host's call throws.
#pragma once

#include <caf/error.hpp>
#include <exception>
#include <string>

#include "penstock/error.hpp"

namespace penstock::actors {

caf::error to_caf(Errc code, const std::string& text);
/// An Error keeps its code; any other exception becomes `otherwise` with its text.
caf::error to_caf(const std::exception_ptr& exception, Errc otherwise = Errc::internal);

/// What it says.
std::string text_of(const std::exception_ptr& exception);

/// The way back. CAF's own errors become stalled (a request that timed out), closed (its receiver
/// is gone) or internal.
Error to_error(const caf::error& error);

}  // namespace penstock::actors
