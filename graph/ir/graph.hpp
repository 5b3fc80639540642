// A Graph is the intermediate representation of a model: nodes in topological order over numbered
// values, and blocks that group nodes. It is plain data. Passes take a graph and return a graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "graph/ir/attributes.hpp"
#include "penstock/initializer.hpp"
#include "penstock/shape.hpp"

namespace penstock::graph {

struct Op;

using ValueId = std::int32_t;
using NodeId = std::int32_t;
using BlockId = std::int32_t;
inline constexpr std::int32_t none = -1;

/// Returns the position in Graph::values, Graph::nodes or Graph::blocks of the element with the
/// number `id`, which must not be `none`.
constexpr std::size_t index(std::int32_t id) noexcept {
  return static_cast<std::size_t>(id);
}

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;

  std::int64_t bytes() const noexcept {
    return shape.elements() * static_cast<std::int64_t>(size_of(dtype));
  }
  bool operator==(const TensorType&) const = default;
};
/// Returns a text such as "f32[40,10]".
std::string to_string(const TensorType& type);

enum class ValueKind : std::uint8_t {
  input,      ///< The host gives the value with each micro-batch; dimension 0 is the batch.
  parameter,  ///< Training changes the value.
  buffer,  ///< The value is kept between micro-batches but not trained, such as running statistics.
  /// The value is the sum of a gradient over a window's micro-batches; differentiate() makes it.
  accumulator,
  computed,  ///< The value is an output of a node.
};

struct Value {
  std::string name = {};
  TensorType type = {};
  ValueKind kind = ValueKind::computed;
  NodeId producer = none;
  bool checkpoint = false;  ///< If `checkpoint` is true, a stage that recomputes keeps the value.
};

struct Node {
  std::string name = {};  ///< `name` is unique in the graph.
  const Op* op = nullptr;
  Attributes attributes = {};
  std::vector<ValueId> inputs = {};
  std::vector<ValueId> outputs = {};
  BlockId block = none;
  /// `backward` says that differentiate() emitted the node, or that the node is `recomputed`.
  bool backward = false;
  /// For a backward node, `forward_of` is the forward node whose gradients the backward node helps
  /// to compute, or whose work it repeats.
  NodeId forward_of = none;
  /// `recomputed` says that the node repeats the work of `forward_of` without changing a buffer.
  bool recomputed = false;
  /// `apart` says that the node repeats a part of a fused node, so that the host can have a value
  /// from within the fused node.
  bool apart = false;
  /// `fixed_size` says that the attributes were computed from the size of input 0, so that the node
  /// takes no other size, except for the batch.
  bool fixed_size = false;
};

/// Returns the text by which messages name a node, such as `conv2d "conv2"`.
std::string to_string(const Node& node);

/// A Variable is a parameter or a buffer.
struct Variable {
  ValueId value = none;
  Initializer initializer = {};
  /// `frozen` says that training leaves the variable as it is: a parameter has no gradient, and a
  /// node that would update a buffer takes the form that it has in inference.
  bool frozen = false;
};

struct Block {
  std::string name = {};
  std::int32_t ipu = none;  ///< `ipu` is the IPU that the model names for the block, or `none`.
  /// `stage` is the number of the stage for which the block was made, or `none`.
  std::int32_t stage = none;
};

struct Output {
  std::string name = {};
  ValueId value = none;
  /// `anchor` is the position of the output among the anchors that the host asks for, or `none` if
  /// the output is the model's own.
  std::int32_t anchor = none;
};

/// A GradientAnchor is a value whose gradient the host asks for.
struct GradientAnchor {
  ValueId value = none;
  /// `anchor` is the position among the anchors that the host asks for.
  std::int32_t anchor = none;
  /// `lane_batch` is the number of samples in a micro-batch if the value has the batch-lane layout,
  /// and 0 if the value has another layout.
  std::int64_t lane_batch = 0;
};

/// A Twin is a pair of values that are computed alike: the result of a fused node, and the result
/// of the nodes that repeat the parts of the fused node one by one (Node::apart).
struct Twin {
  ValueId value = none;     ///< `value` is the result of the nodes that repeat the parts.
  ValueId original = none;  ///< `original` is the result of the fused node.
};

/// A ParameterGradient is the gradient of one use of a parameter, with the value that sums it over
/// micro-batches.
struct ParameterGradient {
  ValueId parameter = none;
  ValueId gradient = none;
  ValueId sum = none;  ///< `sum` is the value, of the kind accumulator, that sums up `gradient`.
  NodeId use = none;   ///< `use` is the node that uses the parameter.
};

/// A DynamicAxis is an axis of an input whose size may differ from call to call.
struct DynamicAxis {
  ValueId input = none;
  std::int32_t axis = 1;  ///< `axis` is the number of the axis, where axis 0 is the batch.
  /// The axis has this size or more, up to the size of the input's type.
  std::int64_t shortest = 1;
};

struct Graph {
  std::string name = {};
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<Block> blocks;
  std::vector<ValueId> inputs = {};  ///< `inputs` are in the order in which they were declared.
  /// `variables` are the parameters and buffers in the order in which the model's layers declare
  /// them.
  std::vector<Variable> variables;
  std::vector<Output> outputs;
  /// `gradients` are the values whose gradients differentiate() makes outputs.
  std::vector<GradientAnchor> gradients = {};
  std::vector<Twin> twins = {};  ///< `twins` are the pairs that fuse() has made.
  ValueId loss = none;
  /// `parameter_gradients` are what differentiate() has found, in the order of `variables` and, for
  /// each parameter, of its uses.
  std::vector<ParameterGradient> parameter_gradients;
  /// `dynamic_axes` are axes of `inputs`, at most one of each input. All have the same size in a
  /// call.
  std::vector<DynamicAxis> dynamic_axes = {};

  const Value& value(ValueId id) const { return values[index(id)]; }
  Value& value(ValueId id) { return values[index(id)]; }
  const Node& node(NodeId id) const { return nodes[index(id)]; }
  Node& node(NodeId id) { return nodes[index(id)]; }
  const TensorType& type(ValueId id) const { return value(id).type; }
};

/// Returns the types of `values`, which are values of `graph`.
std::vector<TensorType> types_of(const Graph& graph, std::span<const ValueId> values);

/// Appends a node, infers the types of its outputs, and returns its number. If `name` is empty, the
/// node gets the op's name and a number as its name.
/// @throws Error shape_mismatch, with a text that begins with the names of the op and of the node,
/// if the inputs are not what the op takes; invalid_argument if the op does not declare an
/// attribute, or declares it of another kind; invalid_model if the name is used already.
NodeId append(Graph& graph, const Op& op, std::vector<ValueId> inputs, Attributes attributes = {},
              std::string name = "");

/// Returns `graph`, which must not have backward nodes, for micro-batches of `batch` samples:
/// dimension 0 of every input becomes `batch`, and every type is inferred again.
Graph with_batch(const Graph& graph, std::int64_t batch);
/// Returns `graph`, which must not have backward nodes, with dynamic axes of the size `length`.
/// @throws Error as append() if a node does not take inputs of that size; shape_mismatch if a node
/// of a fixed size would get another one.
Graph with_length(const Graph& graph, std::int64_t length);

}  // namespace penstock::graph
