// A Pattern is a group of nodes by which exporters write what one layer computes. The functions are
// pure.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "engine/onnx/format/onnx_file.hpp"

namespace penstock {

struct Pattern {
  /// These are the positions of the nodes in their graph. The last one computes the result, and
  /// nobody but these nodes reads what the others compute.
  std::vector<std::size_t> nodes;
  /// `layer` stands for all of them. Its operator is the name of a function of
  /// engine/onnx/import/pattern_layers.hpp, which imports it if the shapes and the constants are
  /// those of the layer; otherwise the nodes are imported one by one.
  OnnxNode layer;
};

/// Returns the patterns among `nodes`, none of which shares a node with another one. `outputs` are
/// the names of the graph's outputs, and `initializers` those of its initializers.
std::vector<Pattern> find_patterns(const std::vector<OnnxNode>& nodes,
                                   const std::set<std::string>& outputs,
                                   const std::set<std::string>& initializers);

}  // namespace penstock
