// export_graph() writes the network of a model, in the form that it has in inference, as a graph of
// ONNX nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/onnx/format/onnx_file.hpp"
#include "graph/ir/graph.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

/// An ExportRequest says what is written.
struct ExportRequest {
  const graph::Graph& model;  ///< The model has the form of inference, and outputs.
  /// Returns the newest value of a parameter or buffer.
  std::function<Tensor(const std::string& name)> weight;
  std::int64_t batch = 0;  ///< The model has this number of samples; 0 stands for any number.
};

/// An ExportedGraph is a file whose tensors refer to `elements`.
struct ExportedGraph {
  OnnxFile file = {};
  std::vector<Tensor> elements = {};
};

/// Writes the graph. @throws Error unsupported, whose text names each node that cannot be written
/// and says why.
ExportedGraph export_graph(const ExportRequest& request);

}  // namespace penstock
