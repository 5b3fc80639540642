// A GraphPlan is an ONNX graph as it is imported: the nodes that its outputs need, with functions
// of the file written out, and what was checked about them. The functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/onnx/format/onnx_file.hpp"
#include "engine/onnx/format/tensor_reader.hpp"
#include "engine/onnx/patterns/pattern.hpp"
#include "penstock/error.hpp"
#include "penstock/tensor.hpp"

namespace penstock {

struct ReadInitializer {
  std::string name;
  OnnxType type;
  Tensor tensor;
  std::optional<Error> refusal = {};  ///< This says why there is no tensor, if there is none.
};

struct GraphPlan {
  std::int64_t opset = 0;
  /// `nodes` are in an order in which each node comes after those that it reads. The names of
  /// outputs that nobody reads are empty.
  std::vector<OnnxNode> nodes = {};
  std::vector<Pattern> patterns = {};  ///< These are groups of nodes that may be one layer.
  /// These are the inputs that are no initializers. An axis 0 whose size the file leaves open
  /// without a name is called "batch".
  std::vector<OnnxValueInfo> inputs = {};
  /// These are the names of inputs whose axis 0 is called so. That is a guess, for their sizes may
  /// have nothing to do with each other.
  std::set<std::string> guessed_batches = {};
  /// These are the initializers that a node or an output of the graph reads, with their elements.
  std::vector<ReadInitializer> initializers = {};
};

/// Returns the plan for a file, whose initializers `reader` reads. @throws Error corrupt_file for
/// names that nothing computes, or that are computed twice; unsupported for a version of the
/// operators that cannot be imported.
GraphPlan plan_graph(const OnnxFile& file, TensorReader& reader);

/// Returns the nodes of a file, with those of its own functions in place of the nodes that call
/// them.
/// @throws Error corrupt_file if functions call each other in a circle, make too many nodes, or
/// take too much memory.
std::vector<OnnxNode> written_out(const OnnxFile& file);

/// Returns the version of the operators of ONNX's own domain, or 0 if the file does not say it.
std::int64_t opset_of(const OnnxFile& file);
/// Returns whether the import has the operator of this node.
bool is_supported(const OnnxNode& node);

/// Returns the name by which messages call a node, and the model's layers are called: the name of
/// the node, or else that of its first output, with dots for slashes.
std::string layer_name(const OnnxNode& node);
/// Returns the name of the node's operator, behind that of its domain if it has one.
std::string operator_name(const OnnxNode& node);

}  // namespace penstock
