// A NodeExport is one node of a model while ONNX nodes are written for it: its attributes, the
// names of its inputs, and the functions that add nodes. One thread uses it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/onnx/export/nodes.hpp"
#include "engine/onnx/format/onnx_file.hpp"
#include "graph/ir/graph.hpp"

namespace penstock {

class NodeExport {
 public:
  /// Begins to write `node`, which is one of `types.model()`. `names` has the name of each value.
  NodeExport(Nodes& nodes, const BatchTypes& types, std::vector<std::string>& names,
             const graph::Node& node)
      : attributes(node.attributes), nodes_(nodes), types_(types), names_(names), node_(node) {}

  const graph::Attributes& attributes;

  Nodes& nodes() { return nodes_; }
  const graph::Graph& model() const { return types_.model(); }
  const graph::Node& node() const { return node_; }
  std::size_t input_count() const { return node_.inputs.size(); }
  /// Returns the name of input number `i`.
  const std::string& input(std::size_t i) const { return name_of(node_.inputs[i]); }
  const std::string& name_of(graph::ValueId value) const { return names_[graph::index(value)]; }
  /// Returns the names of all inputs.
  std::vector<std::string> inputs() const;

  /// Returns the type of input or output number `i`, for some number of samples.
  const graph::TensorType& type(std::size_t i = 0) const { return types_.type(node_.inputs[i]); }
  const graph::TensorType& result_type(std::size_t i = 0) const {
    return types_.type(node_.outputs[i]);
  }
  /// Returns whether output number `i` is an output of the model, or a node reads it.
  bool is_read(std::size_t i) const;
  std::int64_t rank(std::size_t i = 0) const {
    return static_cast<std::int64_t>(type(i).shape.rank());
  }
  /// Returns the size of an axis of input number `i`; a negative axis counts from the end.
  /// @throws Error unsupported if it depends on the number of samples.
  std::int64_t size(std::size_t i, std::int64_t axis) const;
  /// Returns whether the size of an axis of input number `i` depends on the number of samples.
  bool is_open(std::size_t i, std::int64_t axis) const;
  /// Returns the attribute `axis`, or `otherwise` if it is not set, as an axis of input 0 that is
  /// counted from the front.
  std::int64_t axis(std::int64_t otherwise) const {
    return from_front(attributes.integer("axis", otherwise));
  }
  /// Returns `axis`, of which a negative one counts from the end of input 0, as counted from the
  /// front.
  std::int64_t from_front(std::int64_t axis) const { return axis < 0 ? axis + rank() : axis; }

  /// Adds a node and returns the name of its output.
  std::string add(const std::string& op_type, std::vector<std::string> inputs,
                  OnnxSettings settings = {});
  /// Adds a node with `count` outputs and returns their names.
  std::vector<std::string> add_all(const std::string& op_type, std::vector<std::string> inputs,
                                   std::size_t count, OnnxSettings settings = {});
  /// Adds the node that computes output 0 of the model's node.
  void result(const std::string& op_type, std::vector<std::string> inputs,
              OnnxSettings settings = {});
  /// Says that `name` is output number `i`. If the node that was added last computes it, that node
  /// and its output get the names of the model's node and of its output.
  void result_is(const std::string& name, std::size_t i = 0);
  /// Makes the outputs of the model's node from number 0 on those of a new node.
  void results(const std::string& op_type, std::vector<std::string> inputs, std::size_t count,
               OnnxSettings settings = {});
  /// Adds a node that gives `x`, whose axis 0 is that of input 0, the shape of output 0.
  std::string in_result_shape(const std::string& x);

  /// Adds a node that gives `x`, whose first axes are those of input number `i`, the shape of the
  /// first `kept` axes of that input and then of `dims`.
  std::string reshaped(const std::string& x, std::int64_t kept, const Dims& dims);
  std::string transposed(const std::string& x, const Dims& order);
  /// Adds a node that puts new axes into `x`, whose numbers in the result are `axes`.
  std::string unsqueezed(const std::string& x, const Dims& axes);
  /// Adds nodes that give `x` the type `dtype`.
  std::string cast(const std::string& x, DType dtype);
  std::string number(double value) { return nodes_.number(value); }
  std::string list(const Dims& values) { return nodes_.list(values); }

 private:
  Nodes& nodes_;
  const BatchTypes& types_;
  std::vector<std::string>& names_;
  const graph::Node& node_;
  bool added_ = false;  ///< `added_` says whether add() has added a node.
};

/// Refuses a node for the reason `text`. @throws Error unsupported.
[[noreturn]] void refuse_export(const std::string& text);

}  // namespace penstock
