// A NodeImport is one node of an ONNX graph while it is added to a model: its attributes and its
// inputs, with refusals that say what is missing. An OnnxOperator says by which function the nodes
// of an operator are imported. One thread uses it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/onnx/import/network_import.hpp"

namespace penstock {

class NodeImport {
 public:
  NodeImport(NetworkImport& import, const OnnxNode& onnx_node, std::int64_t opset_version,
             std::vector<Imported*> inputs)
      : network(import), node(onnx_node), opset(opset_version), inputs_(std::move(inputs)) {}

  NetworkImport& network;
  const OnnxNode& node;
  const std::int64_t opset;  ///< `opset` is the version of the node's operator set.

  std::size_t input_count() const { return inputs_.size(); }
  /// Returns whether the node has input number `i`.
  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i]; }
  /// Returns input number `i`. @throws Error corrupt_file if the node lacks it.
  Imported& input(std::size_t i) const;
  /// Returns whether anything may read output number `i`.
  bool wants(std::size_t i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }

  /// Returns the attribute, or `fallback` if the node does not have it.
  std::int64_t integer(std::string_view name, std::int64_t fallback) const {
    return node.integer(name, fallback);
  }
  bool flag(std::string_view name, bool fallback = false) const {
    return integer(name, fallback ? 1 : 0) != 0;
  }
  double real(std::string_view name, double fallback) const;
  std::string text(std::string_view name, const std::string& fallback) const;
  /// Returns the integers of the attribute, or an empty list if the node does not have it.
  std::vector<std::int64_t> integers(std::string_view name) const { return node.integers(name); }

  /// Returns input number `i`, which has to be known for an import. @throws NeededInputs if it
  /// depends on inputs of the graph; Error unsupported if it depends on parameters.
  const Imported& known(std::size_t i) const;
  /// Returns the integers of input number `i`, which do not depend on the number of samples.
  std::vector<std::int64_t> known_integers(std::size_t i) const;
  /// Returns the integers of input number `i` for both numbers of samples, which are as many for
  /// either. @throws MixedSamples if they are not.
  std::array<std::vector<std::int64_t>, probes> probed_integers(std::size_t i) const;
  /// Returns the one number that input number `i` is.
  double known_number(std::size_t i) const;
  /// Returns the integers of the attribute `name` or, failing that, of input number `i`; nothing if
  /// the node has neither.
  std::vector<std::int64_t> integers(std::string_view name, std::size_t i) const;

  /// Returns the value of input number `i` as f32.
  Value value(std::size_t i) const { return network.value(input(i)); }
  Value raw(std::size_t i) const { return network.raw(input(i)); }
  std::size_t rank(std::size_t i) const { return network.rank(input(i)); }
  Dims dims(std::size_t i) const { return network.first_dims(input(i)); }

  Value apply(const graph::Op& op, const std::vector<Value>& inputs,
              graph::Attributes attributes = {}) const {
    return network.apply(op, inputs, std::move(attributes));
  }
  /// Returns a result of the type and the form of input 0, computed from all inputs.
  Imported like_first(const Value& result) const;
  Imported result(const Value& value, OnnxType type,
                  const std::optional<Placement>& placement) const;

  /// Throws Error unsupported with `text`, which says what is not supported, if `holds` is false.
  static void expect_supported(bool holds, const std::string& text);
  /// Counts a list of `count` numbers, which a node is about to get as an attribute. @throws Error
  /// unsupported if the list, or what is computed at import, is too long.
  void count_list(std::int64_t count) const;
  /// Counts a matrix or list of `count` floats, which is about to be computed. @throws Error as
  /// count_list().
  void count_floats(std::int64_t count) const;
  /// Throws Error corrupt_file with `text`, which says what was expected, if `holds` is false.
  static void expect(bool holds, const std::string& text);

 private:
  static void expect_listed(std::int64_t count);

  std::vector<Imported*> inputs_;
};

/// The results of a node, of which a function that imports it may leave out the last ones.
using Results = std::vector<Imported>;

/// Imports a node that computes element by element what `op` does.
template <const graph::Op& op>
Results of_each(NodeImport& n) {
  return {n.like_first(n.apply(op, {n.value(0)}))};
}

/// An OnnxOperator adds what a node computes to a model.
struct OnnxOperator {
  std::string_view op_type;
  Results (*import)(NodeImport&);
};

/// Returns the function for an operator, or null if there is none.
const OnnxOperator* find_operator(std::string_view op_type);

}  // namespace penstock
