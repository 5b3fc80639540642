// These pure functions are about the nodes If of a graph, whose two branches are graphs of their
// own. A branch may read what is computed outside of it, which the node does not list among its
// inputs.
#pragma once

#include <string_view>
#include <vector>

#include "engine/onnx/format/onnx_file.hpp"

namespace penstock {

/// This is the operator that takes one of two branches.
inline constexpr std::string_view if_operator = "If";

/// Appends what the branches of each node If read from outside to the inputs of the node, so that
/// these are computed before it. @throws Error corrupt_file if that takes too much memory.
void list_captures(std::vector<OnnxNode>& nodes);

/// Returns the graph that the node If takes if its condition is `condition`.
/// @throws Error corrupt_file if the node does not have it, or if it does not have the outputs that
/// the node names.
const OnnxGraph& branch_of(const OnnxNode& node, bool condition);

}  // namespace penstock
