// What compile gave, as bytes, and back: for a cache on disk. Pure.
#pragma once

#include <string>
#include <string_view>

#include "graph/compile/compile.hpp"

namespace penstock::graph {

std::string encode(const Compiled& compiled);

/// For bytes that encode() gave, of the same build: where a plan's places lie is not checked again.
/// @throws Error corrupt_file, invalid_model, invalid_argument or shape_mismatch for bytes that it
/// cannot have given, as far as that shows.
Compiled decode(std::string_view bytes);

}  // namespace penstock::graph
