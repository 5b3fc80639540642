// A plan codec turns the result of compile() into bytes and back, for a cache on disk. The
// functions are pure.
#pragma once

#include <string>
#include <string_view>

#include "graph/compile/compile.hpp"

namespace penstock::graph {

/// Returns `compiled` as bytes that decode() of the same build understands.
std::string encode(const Compiled& compiled);

/// Decodes bytes that encode() of the same build has returned. The function does not check again
/// whether the plan's buffers lie inside their memory. @throws Error corrupt_file, invalid_model,
/// invalid_argument or shape_mismatch if it is seen that encode() cannot have returned the bytes.
Compiled decode(std::string_view bytes);

}  // namespace penstock::graph
