// Graph: the intermediate representation. Nodes in topological order over numbered values; blocks
// group nodes. Plain data; passes take a graph and give a graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "graph/ir/attributes.hpp"
#include "penstock/shape.hpp"

namespace penstock::graph {

struct Op;

using ValueId = std::int32_t;
using NodeId = std::int32_t;
using BlockId = std::int32_t;
inline constexpr std::int32_t none = -1;

/// A number that is not `none`, as a position in its list.
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
/// "f32[40,10]".
std::string to_string(const TensorType& type);

enum class ValueKind : std::uint8_t {
  input,        ///< comes from the host with each micro-batch; dimension 0 is the batch
  parameter,    ///< trained
  buffer,       ///< kept between micro-batches but not trained: running statistics
  accumulator,  ///< sum of a gradient over a window's micro-batches; made by differentiate()
  computed,     ///< a node's output
};

struct Value {
  std::string name = {};
  TensorType type = {};
  ValueKind kind = ValueKind::computed;
  NodeId producer = none;
  bool checkpoint = false;  ///< a stage that recomputes keeps it
};

struct Node {
  std::string name = {};  ///< unique in the graph
  const Op* op = nullptr;
  Attributes attributes = {};
  std::vector<ValueId> inputs = {};
  std::vector<ValueId> outputs = {};
  BlockId block = none;
  bool backward = false;     ///< emitted by automatic differentiation, or `recomputed`
  NodeId forward_of = none;  ///< of a backward node: the forward node whose gradient it serves
  bool recomputed = false;   ///< repeats `forward_of`, but changes no buffer
  bool apart = false;        ///< repeats what runs fused with others, for the host alone
};

/// `conv2d "conv2"`: how messages name a node.
std::string to_string(const Node& node);

/// How a parameter or buffer starts; `uniform` draws from [-bound, bound).
struct Initializer {
  enum class Kind : std::uint8_t { constant, uniform, normal } kind = Kind::constant;
  double value = 0;  ///< the constant, the bound, or the standard deviation
};

/// A parameter or buffer, in model order.
struct Variable {
  ValueId value = none;
  Initializer initializer = {};
};

struct Block {
  std::string name = {};
  std::int32_t ipu = none;    ///< the block's own placement, if it has one
  std::int32_t stage = none;  ///< the number of the stage that it is, if it was made for one
};

struct Output {
  std::string name = {};
  ValueId value = none;
  std::int32_t anchor = none;  ///< position among the anchors asked for; none: the model's own
};

/// A value whose gradient the host asks for.
struct GradientAnchor {
  ValueId value = none;
  std::int32_t anchor = none;   ///< as in Output
  std::int64_t lane_batch = 0;  ///< samples of a value in the batch-lane layout; 0: another layout
};

/// The last result of nodes that run fused, computed once more by those that repeat them apart.
struct Twin {
  ValueId value = none;
  ValueId original = none;
};

/// The gradient of one use of a parameter, and where it is summed over micro-batches.
struct ParameterGradient {
  ValueId parameter = none;
  ValueId gradient = none;
  ValueId sum = none;  ///< of kind accumulator
  NodeId use = none;   ///< the node that uses the parameter
};

struct Graph {
  std::string name = {};
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<Block> blocks;
  std::vector<ValueId> inputs = {};  ///< in the order of their declaration
  std::vector<Variable> variables;   ///< parameters and buffers, in model order
  std::vector<Output> outputs;
  std::vector<GradientAnchor> gradients = {};  ///< differentiate() makes them outputs
  std::vector<Twin> twins = {};                ///< made by fuse()
  ValueId loss = none;
  std::vector<ParameterGradient> parameter_gradients;  ///< filled by differentiate(), model order

  const Value& value(ValueId id) const { return values[index(id)]; }
  Value& value(ValueId id) { return values[index(id)]; }
  const Node& node(NodeId id) const { return nodes[index(id)]; }
  Node& node(NodeId id) { return nodes[index(id)]; }
  const TensorType& type(ValueId id) const { return value(id).type; }
};

/// Appends a node after inferring the types of its outputs, the only place where that happens.
/// An empty name becomes the op's name and a number. Returns the node.
/// @throws Error shape_mismatch, opening with the op's and the node's name, if the inputs are not
/// what the op takes; invalid_argument if the op does not declare an attribute so; invalid_model if
/// the name is used already.
NodeId append(Graph& graph, const Op& op, std::vector<ValueId> inputs, Attributes attributes = {},
              std::string name = "");

/// The same model for micro-batches of `batch` samples: every input's dimension 0 becomes `batch`
/// and every type is inferred again. For graphs without backward nodes.
Graph with_batch(const Graph& graph, std::int64_t batch);

}  // namespace penstock::graph
