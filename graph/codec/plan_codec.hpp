// A plan codec turns what compile() returned into bytes and back, for a cache on disk. The
// functions are pure.
#pragma once

#include <string>
#include <string_view>

#include "graph/compile/compile.hpp"

namespace penstock::graph {

/// Returns `compiled` as bytes that decode() of the same build understands.
std::string encode(const Compiled& compiled);

/// Decodes bytes that encode() of the same build has returned. Whether the plan's buffers lie
/// inside their memory is not checked again. @throws Error corrupt_file, invalid_model,
/// invalid_argument or shape_mismatch for bytes that encode() cannot have returned, as far as that
/// can be seen.
Compiled decode(std::string_view bytes);

}  // namespace penstock::graph
