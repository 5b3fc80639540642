// These functions import the layers that patterns of nodes stand for (engine/onnx/patterns).
#pragma once

#include <string_view>

#include "engine/onnx/import/node_import.hpp"

namespace penstock {

/// Imports a pattern's layer. Returns an empty list, and has added nothing to the model, if shapes,
/// constants or samples are not those of such a layer.
using PatternImport = Results (*)(NodeImport&);

/// Returns the function for the operator that Pattern::layer has.
PatternImport find_pattern_import(std::string_view op_type);

}  // namespace penstock
